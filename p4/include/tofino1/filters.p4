// Filters, constants and functions of stateful units that all chips of the family have.
#ifndef SOJOURN_TOFINO1_FILTERS_P4
#define SOJOURN_TOFINO1_FILTERS_P4

// Low-pass filter: an exponentially weighted mean of `val`, or a rate.
extern Lpf<T, I> {
    Lpf(bit<32> size);
    T execute(in T val, in I index);
}

extern DirectLpf<T> {
    DirectLpf();
    T execute(in T val);
}

// Random early detection on a filtered value: one of the two given words comes back.
extern Wred<T, I> {
    Wred(bit<32> size, bit<8> drop_value, bit<8> no_drop_value);
    bit<8> execute(in T val, in I index);
}

extern DirectWred<T> {
    DirectWred(bit<8> drop_value, bit<8> no_drop_value);
    bit<8> execute(in T val);
}

// A constant of a RegisterAction that the control plane can change.
extern RegisterParam<T> {
    RegisterParam(T initial_value);
    T read();
}

// A rough f(x) inside the stateful ALU: leading bits of x address a table of 16 bytes, and the
// entry is shifted into place. Only the sum that goes into the (lower) register word can use it.
extern MathUnit<T> {
    // Result: data[bits of x] * 2^(exponent of f(x) + scale). The tuple starts with entry 15.
    MathUnit(bool invert, int<2> shift, int<6> scale,
             tuple<bit<8>, bit<8>, bit<8>, bit<8>, bit<8>, bit<8>, bit<8>, bit<8>,
                   bit<8>, bit<8>, bit<8>, bit<8>, bit<8>, bit<8>, bit<8>, bit<8>> data);
    // factor * op(x), with a table that the compiler computes
    MathUnit(MathOp_t op, int factor);
    // (A / B) * op(x)
    MathUnit(MathOp_t op, int A, int B);
    T execute(in T x);
}

#endif
