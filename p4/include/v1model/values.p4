// Hashes, random numbers and checksums.
//
// Data is the fields one behind the other; a last byte that is not full gets zeros behind it, and
// fields of headers that are not valid are left out.
#ifndef SOJOURN_V1MODEL_VALUES_P4
#define SOJOURN_V1MODEL_VALUES_P4

// result = base + H(data) mod max; base if max is 0
@pure
extern void hash<O, T, D, M>(out O result, in HashAlgorithm algo, in T base, in D data, in M max);

// Uniform from lo to hi, both included; result stays as it is if lo > hi.
extern void random<T>(out T result, in T lo, in T hi);

// Only in VerifyChecksum: sets checksum_error if the condition holds and the checksum is wrong.
// The packet goes on.
extern void verify_checksum<T, O>(in bool condition, in T data, in O checksum, HashAlgorithm algo);

// Only in ComputeChecksum: writes the checksum if the condition holds.
@pure
extern void update_checksum<T, O>(in bool condition, in T data, inout O checksum,
                                  HashAlgorithm algo);

// The same over the data and everything behind the last parsed bit.
extern void verify_checksum_with_payload<T, O>(in bool condition, in T data, in O checksum,
                                               HashAlgorithm algo);
@noSideEffects
extern void update_checksum_with_payload<T, O>(in bool condition, in T data, inout O checksum,
                                               HashAlgorithm algo);

@deprecated("use verify_checksum and update_checksum")
extern Checksum16 {
    Checksum16();
    bit<16> get<D>(in D data);
}

#endif
