// Capture scopes, as the manager's files see them.
//
// A scope has pools of its own, like those of the layout that was in force when it was made, and
// one more for persistent and dedicated windows. While it is open they serve every reservation;
// nothing that gives pages back or moves looks at them. Once destroyed they drain.
#ifndef ACRE_MANAGER_CAPTURE_H
#define ACRE_MANAGER_CAPTURE_H

#include "manager/manager.h"

struct acre_capture {
    acre_manager *manager; // NULL: gone, and its pools with it
    acre_capture *outer;   // the scope that was opened before this one and is open still
    acre_host host;        // to free the scope with when the manager is gone
    uint32_t number;
    bool open;
    bool ended; // destroyed: it waits for the last allocation and the last guard
    acre_pool_set pools;
    acre_pool exact; // one page per allocation, for persistent and dedicated windows
};

// How many scopes there are, destroyed ones that still hold pages included.
uint32_t acre_capture_count(const acre_manager *manager);

#endif
