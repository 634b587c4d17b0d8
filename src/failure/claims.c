#include "failure/claims.h"

#include <string.h>

// => the first claim that ends behind `offset`, `count` when none does
static uint32_t first_behind(const acre_claims *claims, uint64_t offset) {
    uint32_t low = 0;
    uint32_t high = claims->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (claims->list[middle].end > offset) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

// What takes the place of the claims [first, last).
typedef struct splice {
    uint32_t first;
    uint32_t last;
    acre_claim pieces[3];
    uint32_t count;
} splice;

// Appends a piece; it joins the one before when both are of one failure and touch.
static void add_piece(splice *s, uint64_t start, uint64_t end, acre_failure *failure) {
    if (start >= end || failure == NULL) {
        return;
    }
    acre_claim *before = s->count == 0 ? NULL : &s->pieces[s->count - 1];
    if (before != NULL && before->failure == failure && before->end == start) {
        before->end = end;
    } else {
        s->pieces[s->count++] = (acre_claim){start, end, failure};
    }
}

// The claims met by [start, end), those of `failure` that touch it included, are replaced by what
// is left of the first, the new claim, and what is left of the last.
static splice plan(const acre_claims *claims, uint64_t start, uint64_t end, acre_failure *failure) {
    const acre_claim *list = claims->list;
    splice s = {.first = first_behind(claims, start)};
    s.last = first_behind(claims, end);
    if (s.last < claims->count && list[s.last].start < end) {
        s.last++;
    }
    if (failure != NULL) {
        if (s.first > 0 && list[s.first - 1].end == start && list[s.first - 1].failure == failure) {
            s.first--;
        }
        if (s.last < claims->count && list[s.last].start == end &&
            list[s.last].failure == failure) {
            s.last++;
        }
    }
    bool met = s.first < s.last;
    if (met) {
        add_piece(&s, list[s.first].start, start, list[s.first].failure);
    }
    add_piece(&s, start, end, failure);
    if (met) {
        add_piece(&s, end, list[s.last - 1].end, list[s.last - 1].failure);
    }
    return s;
}

bool acre_claims_put(acre_claims *claims, acre_host *host, uint64_t start, uint64_t end,
                     acre_failure *failure) {
    splice s = plan(claims, start, end, failure);
    uint32_t replaced = s.last - s.first;
    uint32_t left = claims->count - replaced;
    if (left > UINT32_MAX / 4 ||
        !acre_host_grow(host, &claims->list, sizeof *claims->list, claims->count, left + s.count,
                        &claims->capacity)) {
        return false;
    }
    for (uint32_t i = 0; i < s.count; i++) { // before the release of what may be the same
        acre_failure_retain(s.pieces[i].failure);
    }
    for (uint32_t i = s.first; i < s.last; i++) {
        acre_failure_release(claims->list[i].failure);
    }
    if (left + s.count > 0) {
        acre_claim *at = claims->list + s.first;
        memmove(at + s.count, at + replaced, (claims->count - s.last) * sizeof *at);
        memcpy(at, s.pieces, s.count * sizeof *at);
    }
    claims->count = left + s.count;
    return true;
}

acre_failure *acre_claims_find(const acre_claims *claims, uint64_t start, uint64_t end) {
    uint32_t first = first_behind(claims, start);
    return first < claims->count && claims->list[first].start < end ? claims->list[first].failure
                                                                    : NULL;
}

void acre_claims_clear(acre_claims *claims, acre_host *host) {
    for (uint32_t i = 0; i < claims->count; i++) {
        acre_failure_release(claims->list[i].failure);
    }
    acre_host_free(host, claims->list, claims->capacity * sizeof *claims->list,
                   _Alignof(max_align_t));
    *claims = (acre_claims){NULL, 0, 0};
}

bool acre_claims_check(const acre_claims *claims, uint64_t size) {
    for (uint32_t i = 0; i < claims->count; i++) {
        const acre_claim *at = &claims->list[i];
        if (at->failure == NULL || at->start >= at->end || at->end > size) {
            return false;
        }
        if (i > 0 && (at[-1].end > at->start ||
                      (at[-1].end == at->start && at[-1].failure == at->failure))) {
            return false;
        }
    }
    return true;
}
