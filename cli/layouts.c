#include "layouts.h"

#include <stdio.h>
#include <string.h>

#include "cli.h"

static void make_sub_slices(acre_layout *layout, acre_pool_options pools[LAYOUT_POOLS_MOST]) {
    (void)pools;
    layout->kind = ACRE_LAYOUT_SUB_SLICES;
}

static void make_exclusive(acre_layout *layout, acre_pool_options pools[LAYOUT_POOLS_MOST]) {
    (void)pools;
    layout->kind = ACRE_LAYOUT_EXCLUSIVE_PAGES;
}

// No watermark: the pool keeps what was freed until the device has no more.
static void make_direct(acre_layout *layout, acre_pool_options pools[LAYOUT_POOLS_MOST]) {
    pools[0] = ACRE_DIRECT_POOL;
    layout->kind = ACRE_LAYOUT_EXPLICIT;
    layout->pools = pools;
    layout->pool_count = 1;
}

static void make_adaptive(acre_layout *layout, acre_pool_options pools[LAYOUT_POOLS_MOST]) {
    (void)pools;
    layout->kind = ACRE_LAYOUT_ADAPTIVE;
}

static bool by_all(const acre_storage_limits *limits) {
    (void)limits;
    return true;
}

static bool by_those_that_cut_pages(const acre_storage_limits *limits) {
    return !limits->no_sub_slices;
}

const layout_choice layout_choices[] = {
    {"sub-slices", "pages of growing size cut into slices, large requests exact", make_sub_slices,
     by_those_that_cut_pages, true},
    {"exclusive", "one page per allocation, reused for what fits", make_exclusive, by_all, true},
    {"direct", "one device allocation per request, reused for the exact size", make_direct, by_all,
     false},
    {"adaptive", "slices on pages sized to what outgrew the last ones", make_adaptive,
     by_those_that_cut_pages, true},
};
const unsigned layout_choice_count = sizeof(layout_choices) / sizeof(layout_choices[0]);

void layout_names(char *buffer, unsigned capacity, const char *between) {
    size_t used = 0;
    buffer[0] = '\0';
    for (unsigned i = 0; i < layout_choice_count && used < capacity; i++) {
        int written = snprintf(buffer + used, capacity - used, "%s%s", i ? between : "",
                               layout_choices[i].name);
        used += (size_t)written;
    }
}

static const layout_choice *find(const char *name, size_t length) {
    for (unsigned i = 0; i < layout_choice_count; i++) {
        if (strlen(layout_choices[i].name) == length &&
            memcmp(layout_choices[i].name, name, length) == 0)
            return &layout_choices[i];
    }
    return NULL;
}

static bool refuse(const char *name, size_t length) {
    char names[256];
    layout_names(names, sizeof(names), ", ");
    complain("--layout: '%.*s' is no layout, they are %s, or all", (int)length, name, names);
    return false;
}

bool layout_list_parse(const char *text, layout_list *list) {
    *list = (layout_list){.all = strcmp(text, "all") == 0};
    if (list->all) {
        for (unsigned i = 0; i < layout_choice_count; i++)
            list->chosen[list->count++] = &layout_choices[i];
        return true;
    }
    for (;;) {
        size_t length = strcspn(text, ",");
        const layout_choice *choice = find(text, length);
        if (!choice)
            return refuse(text, length < 64 ? length : 64);
        if (list->count == LAYOUTS_MOST) {
            complain("--layout: over %d layouts", LAYOUTS_MOST);
            return false;
        }
        list->chosen[list->count++] = choice;
        if (text[length] == '\0')
            return true;
        text += length + 1;
    }
}

bool layout_list_keep_capped(layout_list *list) {
    unsigned kept = 0;
    for (unsigned i = 0; i < list->count; i++) {
        const layout_choice *choice = list->chosen[i];
        if (!choice->capped && !list->all) {
            complain("--plan: the layout %s has nothing to cap", choice->name);
            return false;
        }
        if (!choice->capped)
            complain("--plan passes over the layout %s, which has nothing to cap", choice->name);
        else
            list->chosen[kept++] = choice;
    }
    list->count = kept;
    return true;
}
