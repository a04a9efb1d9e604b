// The counter of Tofino 1's parsers.
#ifndef SOJOURN_TOFINO1_PARSER_P4
#define SOJOURN_TOFINO1_PARSER_P4

// The one 8-bit signed counter of a parser: for header stacks and headers of variable length.
extern ParserCounter {
    ParserCounter();
    void set<T>(in T value);
    // (field rotated right by `rotate`) & (2^(mask+1) - 1) + add; more than `max` is an error.
    void set<T>(in T field, in bit<8> max, in bit<8> rotate, in bit<3> mask, in bit<8> add);
    void increment(in bit<8> value);
    void decrement(in bit<8> value);
    bool is_zero();
    bool is_negative();
}

#endif
