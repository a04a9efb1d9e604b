// State that outlives a packet: counters, meters, registers and the stateful ALU.
//
// A packet may use one instance of any of these once in a pass, and every instance lives in one
// stage (TNA p. 62). What a stateful ALU can do is far less than what the body of a RegisterAction
// could say; the target refuses what does not map.
#ifndef SOJOURN_TOFINO1_STATEFUL_P4
#define SOJOURN_TOFINO1_STATEFUL_P4

// ---- Counting -----------------------------------------------------------------------------

// W: type of one counter, I: type of the index. `adjust_byte_count` is taken off each packet.
@noWarn("unused")
extern Counter<W, I> {
    Counter(bit<32> size, CounterType_t type);
    void count(in I index, @optional in bit<32> adjust_byte_count);
}

// One counter for each entry of the table that names it.
@noWarn("unused")
extern DirectCounter<W> {
    DirectCounter(CounterType_t type);
    void count(@optional in bit<32> adjust_byte_count);
}

// ---- Metering -----------------------------------------------------------------------------

// Two-rate three-colour marker (RFC 2698). The result is MeterColor_t as a number, or the values
// that the second constructor gives for each colour.
extern Meter<I> {
    Meter(bit<32> size, MeterType_t type);
    Meter(bit<32> size, MeterType_t type, bit<8> red, bit<8> yellow, bit<8> green);
    bit<8> execute(in I index, in MeterColor_t color, @optional in bit<32> adjust_byte_count);
    bit<8> execute(in I index, @optional in bit<32> adjust_byte_count);
}

extern DirectMeter {
    DirectMeter(MeterType_t type);
    DirectMeter(MeterType_t type, bit<8> red, bit<8> yellow, bit<8> green);
    bit<8> execute(in MeterColor_t color, @optional in bit<32> adjust_byte_count);
    bit<8> execute(@optional in bit<32> adjust_byte_count);
}

// ---- Registers ----------------------------------------------------------------------------

// T: bit<1>, bit/int<8|16|32>, or a struct of two such fields; I: type of the index.
extern Register<T, I> {
    Register(bit<32> size);
    Register(bit<32> size, T initial_value);
    T read(in I index);
    T write(in I index, in T value);
}

// One word for each entry of the table that names it.
extern DirectRegister<T> {
    DirectRegister();
    DirectRegister(T initial_value);
    T read();
    T write(in T value);
}

// One atomic read-modify-write, written by the program as `apply`: `value` is the register's word,
// `rv` the word that goes back to the packet. On the chip every read of `value`, also after an
// assignment to it, means the word as it was; only `rv = value` afterwards sees the new one.
@noWarn("unused")
extern RegisterAction<T, I, U> {
    RegisterAction(Register<_, _> reg);
    U execute(in I index);
    U execute_log();        // at an index that counts up by itself
    @synchronous(execute, execute_log)
    abstract void apply(inout T value, @optional out U rv);
    // Both comparisons at once: the word 1 << (cmplo + 2 * cmphi).
    U predicate(@optional in bool cmplo, @optional in bool cmphi);
}

extern DirectRegisterAction<T, U> {
    DirectRegisterAction(DirectRegister<T> reg);
    U execute();
    @synchronous(execute)
    abstract void apply(inout T value, @optional out U rv);
    U predicate(@optional in bool cmplo, @optional in bool cmphi);
}

#endif
