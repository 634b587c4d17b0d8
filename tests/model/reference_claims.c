// Claims of failures in the model: one flat list, cut and searched from end to end.
#include "model/reference.h"

static void remove_claim(reference *ref, uint32_t at) {
    ref->claims[at] = ref->claims[--ref->claim_count];
}

static void add_claim(reference *ref, model_claim claim) {
    if (claim.start < claim.end) {
        ref->claims[ref->claim_count++] = claim;
    }
}

void reference_claim(reference *ref, int allocation, uint64_t start, uint64_t end, int failure) {
    for (uint32_t i = ref->claim_count; i-- > 0;) { // what is added lies behind i
        model_claim old = ref->claims[i];
        if (old.allocation != allocation || old.end <= start || old.start >= end) {
            continue;
        }
        remove_claim(ref, i);
        add_claim(ref, (model_claim){allocation, old.failure, old.start,
                                     old.start < start ? start : old.start});
        add_claim(ref,
                  (model_claim){allocation, old.failure, old.end > end ? end : old.end, old.end});
    }
    if (failure != 0) {
        add_claim(ref, (model_claim){allocation, failure, start, end});
    }
}

int reference_claimer(const reference *ref, int allocation, uint64_t start, uint64_t end) {
    const model_claim *first = NULL;
    for (uint32_t i = 0; i < ref->claim_count; i++) {
        const model_claim *claim = &ref->claims[i];
        if (start < end && claim->allocation == allocation && claim->start < end &&
            claim->end > start && (first == NULL || claim->start < first->start)) {
            first = claim;
        }
    }
    return first == NULL ? 0 : first->failure;
}

void reference_forget_claims(reference *ref, int allocation) {
    for (uint32_t i = ref->claim_count; i-- > 0;) {
        if (ref->claims[i].allocation == allocation) {
            remove_claim(ref, i);
        }
    }
}

bool reference_is_claimed_by(const reference *ref, int failure) {
    for (uint32_t i = 0; i < ref->claim_count; i++) {
        if (ref->claims[i].failure == failure) {
            return true;
        }
    }
    return false;
}
