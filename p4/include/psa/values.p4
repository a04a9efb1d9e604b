// Values computed from fields, random numbers, and claims.
#ifndef SOJOURN_PSA_VALUES_P4
#define SOJOURN_PSA_VALUES_P4

extern Hash<O> {
    Hash(PSA_HashAlgorithm_t algo);
    @pure
    O get_hash<D>(in D data);
    // base + hash % max
    @pure
    O get_hash<T, D>(in T base, in D data, in T max);
}

// A checksum of everything that `update` has taken since `clear`. It is clear whenever its block
// begins, like the next.
extern Checksum<W> {
    Checksum(PSA_HashAlgorithm_t hash);
    void clear();
    void update<T>(in T data);
    @noSideEffects
    W get();
}

// The Internet checksum, also by differences (RFC 1624). Data are whole words of 16 bits.
extern InternetChecksum {
    InternetChecksum();
    void clear();
    void add<T>(in T data);
    void subtract<T>(in T data);
    @noSideEffects
    bit<16> get();
    // For a later set_state, of this object or another.
    @noSideEffects
    bit<16> get_state();
    void set_state(in bit<16> checksum_state);
}

// Uniform from min to max, both included.
extern Random<T> {
    Random(T min, T max);
    T read();
}

// A claim that does not hold ends the pass: the packet is dropped and the run reports it. (bmv2
// itself stops.)
extern void assert(in bool check);
extern void assume(in bool check);

#endif
