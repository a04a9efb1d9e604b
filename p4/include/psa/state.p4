// State across packets: counters, meters and registers, and those that belong to table entries.
//
// An index beyond the array counts and writes nothing, reads 0 and is green.
#ifndef SOJOURN_PSA_STATE_P4
#define SOJOURN_PSA_STATE_P4

// W is the width of a cell, S the type of the index.
@noWarn("unused")
extern Counter<W, S> {
    Counter(bit<32> n_counters, PSA_CounterType_t type);
    void count(in S index);
}

// One cell for each entry of the table that names it in `psa_direct_counter`; the entry's action
// calls `count`.
@noWarn("unused")
extern DirectCounter<W> {
    DirectCounter(PSA_CounterType_t type);
    void count();
}

// Two rates, three colours (RFC 2698); green while the control plane has set no rates. `color` is
// that of an earlier meter, GREEN if it is left out.
extern Meter<S> {
    Meter(bit<32> n_meters, PSA_MeterType_t type);
    PSA_MeterColor_t execute(in S index, in PSA_MeterColor_t color);
    PSA_MeterColor_t execute(in S index);
}

// One cell for each entry of the table that names it in `psa_direct_meter`.
extern DirectMeter {
    DirectMeter(PSA_MeterType_t type);
    PSA_MeterColor_t execute(in PSA_MeterColor_t color);
    PSA_MeterColor_t execute();
}

extern Register<T, S> {
    Register(bit<32> size);     // all cells 0
    Register(bit<32> size, T initial_value);
    @noSideEffects
    T read(in S index);
    void write(in S index, in T value);
}

#endif
