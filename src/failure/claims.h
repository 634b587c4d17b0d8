// Claims: which bytes of one allocation which failure claims. A list of ranges in order of offset;
// none is empty, none overlap, and touching ones are of different failures.
//
//   bytes      0         10        20        30        40
//
//              |---------A---------|         |----B----|
//   put B on [10, 30)
//              |----A----|--------------B--------------|
//   put nobody on [23, 25)
//              |----A----|-----B------| |------B-------|
//
// Most allocations have none, a failed launch's outputs one, so an array is enough: binary search,
// and moving what lies behind.
#ifndef ACRE_FAILURE_CLAIMS_H
#define ACRE_FAILURE_CLAIMS_H

#include "base/host.h"
#include "failure/failure.h"

typedef struct acre_claim {
    uint64_t start;
    uint64_t end;
    acre_failure *failure; // retained
} acre_claim;

// All zero = no claims.
typedef struct acre_claims {
    acre_claim *list;
    uint32_t count;
    uint32_t capacity;
} acre_claims;

// Lets `failure` claim [start, end), start < end, instead of whoever did; NULL = nobody claims it.
// => false when the hooks have no memory; nothing changed.
bool acre_claims_put(acre_claims *claims, acre_host *host, uint64_t start, uint64_t end,
                     acre_failure *failure);

// => the failure of the first claim on any byte of [start, end), start < end; NULL = none
acre_failure *acre_claims_find(const acre_claims *claims, uint64_t start, uint64_t end);

// Releases every claim and the list.
void acre_claims_clear(acre_claims *claims, acre_host *host);

// => whether the list is as described above, and ends at or before `size`.
bool acre_claims_check(const acre_claims *claims, uint64_t size);

#endif
