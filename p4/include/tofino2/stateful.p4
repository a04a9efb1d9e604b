// State that outlives a packet: counters, meters, registers and the stateful ALU of Tofino 2.
//
// A packet may use one instance of any of these once in a pass, and every instance lives in one
// stage. A stateful ALU has four comparisons and returns up to four words.
#ifndef SOJOURN_TOFINO2_STATEFUL_P4
#define SOJOURN_TOFINO2_STATEFUL_P4

// ---- Counting and metering ----------------------------------------------------------------

// `true_egress_accounting`: bytes of the finished packet, in egress only.
@noWarn("unused")
extern Counter<W, I> {
    Counter(bit<32> size, CounterType_t type, @optional bool true_egress_accounting);
    void count(in I index, @optional in bit<32> adjust_byte_count);
}

@noWarn("unused")
extern DirectCounter<W> {
    DirectCounter(CounterType_t type, @optional bool true_egress_accounting);
    void count(@optional in bit<32> adjust_byte_count);
}

extern Meter<I> {
    Meter(bit<32> size, MeterType_t type, @optional bool true_egress_accounting);
    Meter(bit<32> size, MeterType_t type, bit<8> red, bit<8> yellow, bit<8> green,
          @optional bool true_egress_accounting);
    bit<8> execute(in I index, in MeterColor_t color, @optional in bit<32> adjust_byte_count);
    bit<8> execute(in I index, @optional in bit<32> adjust_byte_count);
}

extern DirectMeter {
    DirectMeter(MeterType_t type, @optional bool true_egress_accounting);
    DirectMeter(MeterType_t type, bit<8> red, bit<8> yellow, bit<8> green,
                @optional bool true_egress_accounting);
    bit<8> execute(in MeterColor_t color, @optional in bit<32> adjust_byte_count);
    bit<8> execute(@optional in bit<32> adjust_byte_count);
}

// ---- Registers ----------------------------------------------------------------------------

// T: bit<1>, bit/int<8|16|32|64>, bit<128>, or a struct of two fields of at most 64 bits.
// `clear` writes `value` to all entries; an access meanwhile gives `busy`.
extern Register<T, I> {
    Register(bit<32> size);
    Register(bit<32> size, T initial_value);
    T read(in I index);
    T write(in I index, in T value);
    void clear(in T value, @optional in T busy);
}

extern DirectRegister<T> {
    DirectRegister();
    DirectRegister(T initial_value);
    T read();
    T write(in T value);
    void clear(in T value, @optional in T busy);
}

// Functions of the body of an action: the address of the entry; the word
// 1 << (cmp0 + 2 * cmp1 + 4 * cmp2 + 8 * cmp3); the smallest or largest element of a 128-bit word
// among those that the mask names.
#define SOJOURN_OUTPUTS_OF_ONE_TYPE \
    U address(@optional bit<1> subword); \
    U predicate(@optional in bool cmp0, @optional in bool cmp1, \
                @optional in bool cmp2, @optional in bool cmp3); \
    SOJOURN_EXTREMES
#define SOJOURN_OUTPUTS_OF_SEVERAL_TYPES \
    U address<U>(@optional bit<1> subword); \
    U predicate<U>(@optional in bool cmp0, @optional in bool cmp1, \
                   @optional in bool cmp2, @optional in bool cmp3); \
    SOJOURN_EXTREMES
#define SOJOURN_EXTREMES \
    bit<8>  min8<V>(in V val, in bit<16> mask, @optional out bit<4> index); \
    bit<8>  max8<V>(in V val, in bit<16> mask, @optional out bit<4> index); \
    bit<16> min16<V>(in V val, in bit<8> mask, @optional out bit<3> index); \
    bit<16> max16<V>(in V val, in bit<8> mask, @optional out bit<3> index);

// One atomic read-modify-write. `execute` takes an index; the other methods take the address from
// the stage's counter: a log, a queue, a stack.
@noWarn("unused")
extern RegisterAction<T, H, U> {
    RegisterAction(Register<_, _> reg);
    U execute(@optional in H index, @optional out U rv2, @optional out U rv3, @optional out U rv4);
    U execute_log(@optional out U rv2, @optional out U rv3, @optional out U rv4);
    U enqueue(@optional out U rv2, @optional out U rv3, @optional out U rv4);
    U dequeue(@optional out U rv2, @optional out U rv3, @optional out U rv4);
    U push(@optional out U rv2, @optional out U rv3, @optional out U rv4);
    U pop(@optional out U rv2, @optional out U rv3, @optional out U rv4);
    void sweep(@optional in U busy);
    @synchronous(execute, execute_log, enqueue, dequeue, push, pop, sweep)
    abstract void apply(inout T value, @optional out U rv1, @optional out U rv2,
                        @optional out U rv3, @optional out U rv4);
    @synchronous(enqueue, push)
    @optional abstract void overflow(@optional inout T value, @optional out U rv1,
                                     @optional out U rv2, @optional out U rv3,
                                     @optional out U rv4);
    @synchronous(dequeue, pop)
    @optional abstract void underflow(@optional inout T value, @optional out U rv1,
                                      @optional out U rv2, @optional out U rv3,
                                      @optional out U rv4);
    SOJOURN_OUTPUTS_OF_ONE_TYPE
}

extern DirectRegisterAction<T, U> {
    DirectRegisterAction(DirectRegister<T> reg);
    U execute(@optional out U rv2, @optional out U rv3, @optional out U rv4);
    @synchronous(execute)
    abstract void apply(inout T value, @optional out U rv1, @optional out U rv2,
                        @optional out U rv3, @optional out U rv4);
    SOJOURN_OUTPUTS_OF_ONE_TYPE
}

// 2 outputs, each with a type of its own.
@noWarn("unused")
extern RegisterAction2<T, H, U1, U2> {
    RegisterAction2(Register<_, _> reg);
    U1 execute(in H index, out U2 rv2);
    U1 execute_log(out U2 rv2);
    U1 enqueue(out U2 rv2);
    U1 dequeue(out U2 rv2);
    U1 push(out U2 rv2);
    U1 pop(out U2 rv2);
    @synchronous(execute, execute_log, enqueue, dequeue, push, pop)
    abstract void apply(inout T value, out U1 rv1, out U2 rv2);
    @synchronous(enqueue, push)
    @optional abstract void overflow(@optional inout T value, out U1 rv1, out U2 rv2);
    @synchronous(dequeue, pop)
    @optional abstract void underflow(@optional inout T value, out U1 rv1, out U2 rv2);
    SOJOURN_OUTPUTS_OF_SEVERAL_TYPES
}

extern DirectRegisterAction2<T, U1, U2> {
    DirectRegisterAction2(DirectRegister<T> reg);
    U1 execute(out U2 rv2);
    @synchronous(execute)
    abstract void apply(inout T value, out U1 rv1, out U2 rv2);
    SOJOURN_OUTPUTS_OF_SEVERAL_TYPES
}

// 3 outputs, each with a type of its own.
@noWarn("unused")
extern RegisterAction3<T, H, U1, U2, U3> {
    RegisterAction3(Register<_, _> reg);
    U1 execute(in H index, out U2 rv2, out U3 rv3);
    U1 execute_log(out U2 rv2, out U3 rv3);
    U1 enqueue(out U2 rv2, out U3 rv3);
    U1 dequeue(out U2 rv2, out U3 rv3);
    U1 push(out U2 rv2, out U3 rv3);
    U1 pop(out U2 rv2, out U3 rv3);
    @synchronous(execute, execute_log, enqueue, dequeue, push, pop)
    abstract void apply(inout T value, out U1 rv1, out U2 rv2, out U3 rv3);
    @synchronous(enqueue, push)
    @optional abstract void overflow(@optional inout T value, out U1 rv1, out U2 rv2, out U3 rv3);
    @synchronous(dequeue, pop)
    @optional abstract void underflow(@optional inout T value, out U1 rv1, out U2 rv2, out U3 rv3);
    SOJOURN_OUTPUTS_OF_SEVERAL_TYPES
}

extern DirectRegisterAction3<T, U1, U2, U3> {
    DirectRegisterAction3(DirectRegister<T> reg);
    U1 execute(out U2 rv2, out U3 rv3);
    @synchronous(execute)
    abstract void apply(inout T value, out U1 rv1, out U2 rv2, out U3 rv3);
    SOJOURN_OUTPUTS_OF_SEVERAL_TYPES
}

// 4 outputs, each with a type of its own.
@noWarn("unused")
extern RegisterAction4<T, H, U1, U2, U3, U4> {
    RegisterAction4(Register<_, _> reg);
    U1 execute(in H index, out U2 rv2, out U3 rv3, out U4 rv4);
    U1 execute_log(out U2 rv2, out U3 rv3, out U4 rv4);
    U1 enqueue(out U2 rv2, out U3 rv3, out U4 rv4);
    U1 dequeue(out U2 rv2, out U3 rv3, out U4 rv4);
    U1 push(out U2 rv2, out U3 rv3, out U4 rv4);
    U1 pop(out U2 rv2, out U3 rv3, out U4 rv4);
    @synchronous(execute, execute_log, enqueue, dequeue, push, pop)
    abstract void apply(inout T value, out U1 rv1, out U2 rv2, out U3 rv3, out U4 rv4);
    @synchronous(enqueue, push)
    @optional abstract void overflow(@optional inout T value, out U1 rv1, out U2 rv2, out U3 rv3, out U4 rv4);
    @synchronous(dequeue, pop)
    @optional abstract void underflow(@optional inout T value, out U1 rv1, out U2 rv2, out U3 rv3, out U4 rv4);
    SOJOURN_OUTPUTS_OF_SEVERAL_TYPES
}

extern DirectRegisterAction4<T, U1, U2, U3, U4> {
    DirectRegisterAction4(DirectRegister<T> reg);
    U1 execute(out U2 rv2, out U3 rv3, out U4 rv4);
    @synchronous(execute)
    abstract void apply(inout T value, out U1 rv1, out U2 rv2, out U3 rv3, out U4 rv4);
    SOJOURN_OUTPUTS_OF_SEVERAL_TYPES
}

// The smallest or largest element of a 128-bit word, which `postmod` may then change. The index
// counts words of 128 bits.
#define SOJOURN_WORD_EXTREMES(POSTMOD) \
    bit<8>  min8(in bit<128> val, in bit<16> mask, @optional out bit<4> index, @optional in POSTMOD postmod); \
    bit<8>  max8(in bit<128> val, in bit<16> mask, @optional out bit<4> index, @optional in POSTMOD postmod); \
    bit<16> min16(in bit<128> val, in bit<8> mask, @optional out bit<3> index, @optional in POSTMOD postmod); \
    bit<16> max16(in bit<128> val, in bit<8> mask, @optional out bit<3> index, @optional in POSTMOD postmod);

extern MinMaxAction<T, H, U> {
    MinMaxAction(Register<T, _> reg);
    U execute(@optional in H index, @optional out U rv2, @optional out U rv3, @optional out U rv4);
    @synchronous(execute)
    abstract void apply(inout bit<128> value, @optional out U rv1, @optional out U rv2,
                        @optional out U rv3, @optional out U rv4);
    U address(@optional bit<1> subword);
    U predicate(@optional in bool cmp0, @optional in bool cmp1,
                @optional in bool cmp2, @optional in bool cmp3);
    SOJOURN_WORD_EXTREMES(int<8>)
}

extern MinMaxAction2<T, H, U1, U2> {
    MinMaxAction2(Register<T, _> reg);
    U1 execute(@optional in H index, out U2 rv2);
    @synchronous(execute)
    abstract void apply(inout bit<128> value, out U1 rv1, out U2 rv2);
    U address<U>(@optional bit<1> subword);
    U predicate<U>(@optional in bool cmp0, @optional in bool cmp1,
                   @optional in bool cmp2, @optional in bool cmp3);
    SOJOURN_WORD_EXTREMES(int<9>)
}

extern MinMaxAction3<T, H, U1, U2, U3> {
    MinMaxAction3(Register<T, _> reg);
    U1 execute(@optional in H index, out U2 rv2, out U3 rv3);
    @synchronous(execute)
    abstract void apply(inout bit<128> value, out U1 rv1, out U2 rv2, out U3 rv3);
    U address<U>(@optional bit<1> subword);
    U predicate<U>(@optional in bool cmp0, @optional in bool cmp1,
                   @optional in bool cmp2, @optional in bool cmp3);
    SOJOURN_WORD_EXTREMES(int<9>)
}

extern MinMaxAction4<T, H, U1, U2, U3, U4> {
    MinMaxAction4(Register<T, _> reg);
    U1 execute(@optional in H index, out U2 rv2, out U3 rv3, out U4 rv4);
    @synchronous(execute)
    abstract void apply(inout bit<128> value, out U1 rv1, out U2 rv2, out U3 rv3, out U4 rv4);
    U address<U>(@optional bit<1> subword);
    U predicate<U>(@optional in bool cmp0, @optional in bool cmp1,
                   @optional in bool cmp2, @optional in bool cmp3);
    SOJOURN_WORD_EXTREMES(int<9>)
}

// ---- Learning -----------------------------------------------------------------------------

// An action that also sees what the other stateful ALUs of its stage have matched: `digest` from the
// packet, `learn` if none of them knows it. Not simulated.
extern LearnAction<T, H, D, U> {
    LearnAction(Register<T, H> reg);
    U execute(in H index, @optional out U rv2, @optional out U rv3, @optional out U rv4);
    @synchronous(execute)
    abstract void apply(inout T value, in D digest, in bool learn, @optional out U rv1,
                        @optional out U rv2, @optional out U rv3, @optional out U rv4);
    SOJOURN_OUTPUTS_OF_ONE_TYPE
}

extern LearnAction2<T, H, D, U1, U2> {
    LearnAction2(Register<T, H> reg);
    U1 execute(in H index, out U2 rv2);
    @synchronous(execute)
    abstract void apply(inout T value, in D digest, in bool learn, out U1 rv1, out U2 rv2);
    SOJOURN_OUTPUTS_OF_SEVERAL_TYPES
}

extern LearnAction3<T, H, D, U1, U2, U3> {
    LearnAction3(Register<T, H> reg);
    U1 execute(in H index, out U2 rv2, out U3 rv3);
    @synchronous(execute)
    abstract void apply(inout T value, in D digest, in bool learn, out U1 rv1, out U2 rv2, out U3 rv3);
    SOJOURN_OUTPUTS_OF_SEVERAL_TYPES
}

extern LearnAction4<T, H, D, U1, U2, U3, U4> {
    LearnAction4(Register<T, H> reg);
    U1 execute(in H index, out U2 rv2, out U3 rv3, out U4 rv4);
    @synchronous(execute)
    abstract void apply(inout T value, in D digest, in bool learn, out U1 rv1, out U2 rv2, out U3 rv3, out U4 rv4);
    SOJOURN_OUTPUTS_OF_SEVERAL_TYPES
}

#endif
