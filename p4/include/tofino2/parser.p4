// The counter of Tofino 2's parsers, which has a stack for headers inside headers.
#ifndef SOJOURN_TOFINO2_PARSER_P4
#define SOJOURN_TOFINO2_PARSER_P4

extern ParserCounter {
    ParserCounter();
    void set<T>(in T value);
    // (field rotated right by `rotate`) & mask, + add; more than `max` is an error.
    void set<T>(in T field, in bit<8> max, in bit<8> rotate, in bit<8> mask, in bit<8> add);
    void push<T>(in T value, @optional bool update_with_top);
    void push<T>(in T field, in bit<8> max, in bit<8> rotate, in bit<8> mask, in bit<8> add,
                 @optional bool update_with_top);
    void pop();
    void increment(in bit<8> value);
    void decrement(in bit<8> value);
    bool is_zero();
    bool is_negative();
}

#endif
