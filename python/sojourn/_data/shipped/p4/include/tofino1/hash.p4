// Hashing and random numbers.
#ifndef SOJOURN_TOFINO1_HASH_P4
#define SOJOURN_TOFINO1_HASH_P4

// A cyclic redundancy code. `coeff` is the polynomial without its leading one, `reversed` says that
// bits go in and out lowest first, `init` is the start value, `xor` is applied to the result.
extern CRCPolynomial<T> {
    CRCPolynomial(T coeff, bool reversed, bool msb, bool extended, T init, T xor);
}

// W is the type of the result.
extern Hash<W> {
    Hash(HashAlgorithm_t algo);
    Hash(HashAlgorithm_t algo, CRCPolynomial<_> poly);
    W get<D>(in D data);
}

// Uniform over all values of W.
extern Random<W> {
    Random();
    W get();
}

#endif
