// Functions without state.
#ifndef SOJOURN_TOFINO1_FUNCTIONS_P4
#define SOJOURN_TOFINO1_FUNCTIONS_P4

extern T min<T>(in T t1, in T t2);
extern T max<T>(in T t1, in T t2);

// For fields that the chip tracks as valid or not (ports, groups, *_type): as if never assigned.
extern void invalidate<T>(in T field);
extern bool is_validated<T>(in T field);

// Size of a type, by example.
extern bit<32> sizeInBits<H>(in H h);
extern bit<32> sizeInBytes<H>(in H h);

#endif
