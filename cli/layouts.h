// The layouts that a trace can be replayed on, by the names that --layout takes.
#ifndef ACRE_CLI_LAYOUTS_H
#define ACRE_CLI_LAYOUTS_H

#include <acre/layout.h>
#include <acre/storage.h>

enum {
    LAYOUT_POOLS_MOST = 4
};

typedef struct layout_choice {
    const char *name;
    const char *what; // for the help
    // Fills in the layout; explicit ones put their pools into `pools`, which outlive it.
    void (*make)(acre_layout *layout, acre_pool_options pools[LAYOUT_POOLS_MOST]);
    // Whether a storage can serve it.
    bool (*supported)(const acre_storage_limits *limits);
    bool capped; // it has pools that can have a cap, so a plan has something to hold
} layout_choice;

// In the order that `all` runs them. To offer a layout, add an entry.
extern const layout_choice layout_choices[];
extern const unsigned layout_choice_count;

enum {
    LAYOUTS_MOST = 16
};

// What --layout asked for.
typedef struct layout_list {
    const layout_choice *chosen[LAYOUTS_MOST];
    unsigned count;
    bool all; // those that the storage supports; the others are passed over in silence
} layout_list;

// Reads a comma list of names, or `all`. => False, after complaining.
bool layout_list_parse(const char *text, layout_list *list);

// Drops the layouts of `all` that a plan has nothing to cap on, with a sentence on stderr.
// => False, after complaining, when one of them was asked for by its name.
bool layout_list_keep_capped(layout_list *list);

// Writes the names, with `between` between them.
void layout_names(char *buffer, unsigned capacity, const char *between);

#endif
