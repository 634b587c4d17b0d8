// What a listener and the log hear of reservations, frees and pages. None of it is reached while
// nobody listens (acre_manager.told).
#include "base/text.h"
#include "manager/manager.h"

#include <inttypes.h>

static void log_reservation(const acre_log *log, const acre_event *event, const acre_pool *pool) {
    const char *outcome = event->kind == ACRE_EVENT_RESERVE ? "reserved" : "refused";
    if (pool != NULL) {
        acre_log_write(log, ACRE_LOG_FULL, "%s %s in pool %s", outcome,
                       acre_format_bytes(event->size).text, acre_pool_kind_name(pool->kind));
    } else {
        acre_log_write(log, ACRE_LOG_FULL, "%s %s", outcome, acre_format_bytes(event->size).text);
    }
}

void acre_manager_tell(const acre_manager *manager, const acre_event *event,
                       const acre_pool *pool) {
    if (manager->event != NULL && (manager->event_mask & (uint32_t)event->kind) != 0) {
        manager->event(manager->event_context, event);
    }
    if (acre_log_wants(&manager->log, ACRE_LOG_FULL) && event->kind != ACRE_EVENT_FREE) {
        log_reservation(&manager->log, event, pool);
    }
}

void acre_manager_log_page(const acre_manager *manager, const acre_pool *pool) {
    bool persistent = pool->kind == ACRE_POOL_PERSISTENT;
    acre_log_write(&manager->log, persistent ? ACRE_LOG_BASIC : ACRE_LOG_FULL,
                   "new page in pool %s: %" PRIu64 " pages, %s reserved",
                   acre_pool_kind_name(pool->kind), pool->pages,
                   acre_format_bytes(pool->usage.reserved).text);
}
