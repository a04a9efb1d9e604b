// Tables whose entries name a member or a group instead of an action (property `implementation`).
#ifndef SOJOURN_V1MODEL_TABLES_P4
#define SOJOURN_V1MODEL_TABLES_P4

// Members: actions with their data, shared by entries.
extern action_profile {
    action_profile(bit<32> size);
}

// Groups of members, of which the hash of the table's `selector` keys chooses one.
extern action_selector {
    action_selector(HashAlgorithm algorithm, bit<32> size, bit<32> outputWidth);
}

#endif
