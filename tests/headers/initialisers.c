// Compiled as C11 and as C++17: the initialisers that take parameters. run.sh tries the others.
#include <acre/acre.h>

void uses(void);

void uses(void) {
    acre_pool_options pools[] = {ACRE_SLICED_POOL(1024), ACRE_EXCLUSIVE_POOL(1024),
                                 ACRE_DIRECT_POOL};
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_EXPLICIT);
    acre_reservation reservation = ACRE_RESERVATION_INIT(1024);

    layout.pools = pools;
    layout.pool_count = sizeof pools / sizeof pools[0];
    (void)layout;
    (void)reservation;
}
