// Tables whose entries name a member or a group (property `psa_implementation`), and messages to the
// control plane.
#ifndef SOJOURN_PSA_TABLES_P4
#define SOJOURN_PSA_TABLES_P4

// Members: actions with their data, shared by entries.
extern ActionProfile {
    ActionProfile(bit<32> size);
}

// Groups of members, of which the hash of the table's `selector` keys chooses one.
extern ActionSelector {
    ActionSelector(PSA_HashAlgorithm_t algo, bit<32> size, bit<32> outputWidth);
}

// A stream of messages to the control plane, which a deparser fills.
extern Digest<T> {
    Digest();
    void pack(in T data);
}

#endif
