// Reports written out: text for people, JSON for programs, Prometheus text for monitoring.
#include "base/text.h"
#include "manager/manager.h"

#include <inttypes.h>

// One number of a pool, as the machine formats name it.
typedef struct field {
    const char *name;
    uint64_t value;
    const char *help;
} field;

#define POOL_FIELDS 17

static void pool_fields(const acre_pool_report *pool, field fields[POOL_FIELDS]) {
    const field all[POOL_FIELDS] = {
        {"allocations", pool->usage.allocations, "Live allocations"},
        {"in_use_bytes", pool->usage.in_use, "Requested bytes of live allocations"},
        {"padding_bytes", pool->usage.padding, "Bytes that rounding to the alignment added"},
        {"reserved_bytes", pool->usage.reserved, "Bytes of all pages held"},
        {"pages", pool->pages, "Pages held"},
        {"pages_peak", pool->pages_peak, "The most pages held at a time"},
        {"peak_bytes", pool->bytes_peak, "The most page bytes held at a time"},
        {"pages_unmapped", pool->pages_unmapped, "Pages without device memory"},
        {"largest_allocation_bytes", pool->largest_alloc, "Largest allocation so far"},
        {"free_slices", pool->free_slices, "Pieces of free room"},
        {"largest_free_bytes", pool->largest_free, "Largest piece of free room"},
        {"outdated_pages", pool->outdated_pages, "Pages of sizes that an arena outgrew"},
        {"max_slice_bytes", pool->max_slice_size, "Largest request accepted by rule"},
        {"page_bytes", pool->page_size, "Bytes of a page"},
        {"cap_bytes", pool->max_pool_size, "The most page bytes it may hold"},
        {"dealloc_period", pool->dealloc_period, "Reservations after which idle pages go"},
        {"reclaim_at_bytes", pool->reclaim_at, "Watermark above which free pages go"}};
    for (uint32_t i = 0; i < POOL_FIELDS; i++) {
        fields[i] = all[i];
    }
}

// The position of a pool for a label: its number, the name of a fixed pool, or a scope and the
// pool's number in it.
static void add_position(acre_text *text, const acre_pool *pool) {
    if (pool->index >= ACRE_POOL_INDEX_PERSISTENT) {
        acre_text_add(text, "%s", acre_pool_kind_name(pool->kind));
    } else if (pool->index >= ACRE_POOL_INDEX_CAPTURE(1, 0)) {
        acre_text_add(text, "c%" PRIu32 ".%" PRIu32, pool->index >> 16, pool->index & 0xffff);
    } else {
        acre_text_add(text, "%" PRIu32, pool->index);
    }
}

static void write_text_pool(acre_text *text, const acre_pool *pool,
                            const acre_pool_report *report) {
    char position[24];
    acre_text where = {position, sizeof position, 0};
    add_position(&where, pool);
    acre_text_add(text, "  %-10s %-10s %8" PRIu64 " %12s %12s %12s %6" PRIu64 " %12s\n", position,
                  acre_pool_kind_name(report->kind), report->usage.allocations,
                  acre_format_bytes(report->usage.in_use).text,
                  acre_format_bytes(report->usage.reserved).text,
                  acre_format_bytes(report->bytes_peak).text, report->pages,
                  acre_format_bytes(report->largest_free).text);
}

static void write_text(acre_manager *manager, acre_text *text, const acre_report *whole) {
    acre_text_add(text, "%s: %" PRIu64 " allocations, %s in use, ", manager->log.name,
                  whole->usage.allocations, acre_format_bytes(whole->usage.in_use).text);
    acre_text_add(text, "%s padding, ", acre_format_bytes(whole->usage.padding).text);
    acre_text_add(text, "%s reserved in %" PRIu64 " pages\n",
                  acre_format_bytes(whole->usage.reserved).text, whole->pages);
    acre_text_add(text, "device %s: %s held, ", manager->heap.storage->name,
                  acre_format_bytes(whole->bytes_allocated).text);
    acre_text_add(text, "%s at the peak; host books %s\n",
                  acre_format_bytes(whole->bytes_peak).text,
                  acre_format_bytes(whole->host_bytes).text);
    acre_text_add(text, "  %-10s %-10s %8s %12s %12s %12s %6s %12s\n", "pool", "kind", "live",
                  "in use", "reserved", "peak", "pages", "largest free");
    acre_pool_walk walk = {.manager = manager};
    for (const acre_pool *pool; (pool = acre_pool_walk_next(&walk)) != NULL;) {
        acre_pool_report report;
        acre_pool_report_fill(pool, &report);
        write_text_pool(text, pool, &report);
    }
}

static void write_json(acre_manager *manager, acre_text *text, const acre_report *whole) {
    acre_text_add(text, "{\"name\": \"");
    acre_text_add_json(text, manager->log.name);
    acre_text_add(text, "\", \"storage\": \"");
    acre_text_add_json(text, manager->heap.storage->name);
    acre_text_add(text,
                  "\", \"allocations\": %" PRIu64 ", \"in_use_bytes\": %" PRIu64
                  ", \"padding_bytes\": %" PRIu64 ", \"reserved_bytes\": %" PRIu64
                  ", \"pages\": %" PRIu64 ", \"reservations\": %" PRIu64,
                  whole->usage.allocations, whole->usage.in_use, whole->usage.padding,
                  whole->usage.reserved, whole->pages, whole->reservations);
    acre_text_add(text,
                  ", \"device_bytes\": %" PRIu64 ", \"device_peak_bytes\": %" PRIu64
                  ", \"host_bytes\": %" PRIu64 ", \"total_memory_bytes\": %" PRIu64
                  ", \"largest_page_bytes\": %" PRIu64 ", \"alignment\": %" PRIu64,
                  whole->bytes_allocated, whole->bytes_peak, whole->host_bytes, whole->total_memory,
                  whole->largest_page, whole->alignment);
    acre_text_add(text,
                  ", \"moves\": %" PRIu64 ", \"moved_bytes\": %" PRIu64
                  ", \"pages_given_back\": %" PRIu64 ", \"pools\": [",
                  whole->moves, whole->moved_bytes, whole->pages_given_back);
    const char *separator = "";
    acre_pool_walk walk = {.manager = manager};
    for (const acre_pool *pool; (pool = acre_pool_walk_next(&walk)) != NULL;) {
        acre_pool_report report;
        field fields[POOL_FIELDS];
        acre_pool_report_fill(pool, &report);
        pool_fields(&report, fields);
        acre_text_add(text, "%s{\"pool\": \"", separator);
        separator = ", ";
        add_position(text, pool);
        acre_text_add(text, "\", \"kind\": \"%s\"", acre_pool_kind_name(report.kind));
        for (uint32_t f = 0; f < POOL_FIELDS; f++) {
            if (fields[f].value == ACRE_UNSET) {
                acre_text_add(text, ", \"%s\": null", fields[f].name);
            } else {
                acre_text_add(text, ", \"%s\": %" PRIu64, fields[f].name, fields[f].value);
            }
        }
        acre_text_add(text, "}");
    }
    acre_text_add(text, "]}\n");
}

// Label values escape backslash, quote and line feed, as the text exposition format asks.
static void add_label(acre_text *text, const char *value) {
    for (; *value != '\0'; value++) {
        const char *escape = *value == '\\' ? "\\\\" : *value == '"' ? "\\\"" : "\\n";
        bool plain = *value != '\\' && *value != '"' && *value != '\n';
        acre_text_add(text, plain ? "%.1s" : "%s", plain ? value : escape);
    }
}

// One number of the whole manager.
static void write_metric(const acre_manager *manager, acre_text *text, const field *metric,
                         const char *type) {
    acre_text_add(text, "# HELP acre_%s %s.\n# TYPE acre_%s %s\nacre_%s{manager=\"", metric->name,
                  metric->help, metric->name, type, metric->name);
    add_label(text, manager->log.name);
    acre_text_add(text, "\"} %" PRIu64 "\n", metric->value);
}

static void write_prometheus(acre_manager *manager, acre_text *text, const acre_report *whole) {
    for (uint32_t f = 0; f < POOL_FIELDS; f++) {
        bool first = true;
        acre_pool_walk walk = {.manager = manager};
        for (const acre_pool *pool; (pool = acre_pool_walk_next(&walk)) != NULL;) {
            acre_pool_report report;
            field fields[POOL_FIELDS];
            acre_pool_report_fill(pool, &report);
            pool_fields(&report, fields);
            if (first) {
                first = false;
                acre_text_add(text, "# HELP acre_pool_%s %s.\n# TYPE acre_pool_%s gauge\n",
                              fields[f].name, fields[f].help, fields[f].name);
            }
            if (fields[f].value == ACRE_UNSET) {
                continue; // the pool has none
            }
            acre_text_add(text, "acre_pool_%s{manager=\"", fields[f].name);
            add_label(text, manager->log.name);
            acre_text_add(text, "\",pool=\"");
            add_position(text, pool);
            acre_text_add(text, "\",kind=\"%s\"} %" PRIu64 "\n", acre_pool_kind_name(report.kind),
                          fields[f].value);
        }
    }
    const field device[] = {{"device_bytes", whole->bytes_allocated, "Bytes held from the device"},
                            {"device_peak_bytes", whole->bytes_peak, "The most bytes held"},
                            {"host_bytes", whole->host_bytes, "Host memory of the bookkeeping"}};
    const field moved[] = {
        {"moves_total", whole->moves, "Allocations moved by relocations"},
        {"moved_bytes_total", whole->moved_bytes, "Bytes of those"},
        {"pages_given_back_total", whole->pages_given_back, "Pages that relocations gave back"}};
    for (uint32_t f = 0; f < sizeof device / sizeof device[0]; f++) {
        write_metric(manager, text, &device[f], "gauge");
    }
    for (uint32_t f = 0; f < sizeof moved / sizeof moved[0]; f++) {
        write_metric(manager, text, &moved[f], "counter");
    }
}

size_t acre_manager_report_write(acre_manager *manager, acre_report_format format, char *buffer,
                                 size_t capacity) {
    acre_text text = {buffer, capacity, 0};
    acre_report whole = ACRE_REPORT_INIT;
    acre_manager_report(manager, &whole);
    if (capacity > 0) {
        buffer[0] = '\0';
    }
    switch (format) {
    case ACRE_REPORT_JSON:
        write_json(manager, &text, &whole);
        break;
    case ACRE_REPORT_PROMETHEUS:
        write_prometheus(manager, &text, &whole);
        break;
    default:
        write_text(manager, &text, &whole);
        break;
    }
    return text.length;
}
