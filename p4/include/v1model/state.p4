// What outlives a packet: counters, meters and registers, and those that belong to table entries.
//
// An index beyond the array reads, writes, counts and meters nothing.
#ifndef SOJOURN_V1MODEL_STATE_P4
#define SOJOURN_V1MODEL_STATE_P4

#if V1MODEL_VERSION >= 20200408
#define V1MODEL_INDEX I
#else
#define V1MODEL_INDEX bit<32>
#endif

// ---- Counting -----------------------------------------------------------------------------

// Every cell counts packets and bytes, whatever the type (as bmv2 does).
extern counter
#if V1MODEL_VERSION >= 20200408
<I>
#endif
{
    counter(bit<32> size, CounterType type);
    void count(in V1MODEL_INDEX index);
}

// One cell for each entry of the table that names it in `counters`; each hit counts by itself.
extern direct_counter {
    direct_counter(CounterType type);
    void count();
}

// ---- Metering -----------------------------------------------------------------------------

// Two rates, three colours (RFC 2698); green while the control plane has set no rates.
extern meter
#if V1MODEL_VERSION >= 20200408
<I>
#endif
{
    meter(bit<32> size, MeterType type);
    void execute_meter<T>(in V1MODEL_INDEX index, out T result);
}

// One cell for each entry of the table that names it in `meters`; each hit meters by itself.
extern direct_meter<T> {
    direct_meter(MeterType type);
    void read(out T result);
}

// ---- Registers ----------------------------------------------------------------------------

#if V1MODEL_VERSION >= 20200408
extern register<T, I>
#else
extern register<T>
#endif
{
    register(bit<32> size);
    @noSideEffects
    void read(out T result, in V1MODEL_INDEX index);
    void write(in V1MODEL_INDEX index, in T value);
}

#endif
