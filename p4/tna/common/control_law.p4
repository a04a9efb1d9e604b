// CoDel's parameters and its control law, INTERVAL / sqrt(count), as the stateful ALU can compute it.
#ifndef COMMON_CONTROL_LAW_P4
#define COMMON_CONTROL_LAW_P4

// RFC 8289, sections 4.3 and 4.4. A program may define others before it includes an AQM.
#ifndef TARGET
#define TARGET      5000000         // ns: delay that may stand in a queue for good
#endif
#ifndef INTERVAL
#define INTERVAL    100000000       // ns: time a sender needs to react to a drop
#endif

// What follows the name of a math unit:  MathUnit<bit<32>>(CONTROL_LAW_UNIT) name;
//
// For 100 ms it is the unit that P4-CoDel publishes. true, -1 mean "one over the square root"; 20 is
// the scale: results are table entries * 2^(20 + e). Entry i stands for 100 ms / sqrt(i / 8) / 2^20;
// the list runs from entry 15 down to entry 0, and a square root uses entries 4 to 15 only. For
// another INTERVAL the compiler computes such a table.
//
// With the leading bits of the count to go by, results are up to 12 % too long and 4 % on average,
// and at most 0.2 % too short. (The authors of CoDel-ACT measured 42 to 58 % too long on their
// switch; ../../README.md has more on that.)
//
// A unit belongs to one register (TNA p. 64), hence a macro and not one shared instance.
#if INTERVAL == 100000000
#define CONTROL_LAW_UNIT true, -1, 20, { \
    0x46, 0x48, 0x4b, 0x4e, 0x52, 0x56, 0x5a, 0x60, \
    0x66, 0x6f, 0x79, 0x87, 0x00, 0x00, 0x00, 0x00 }
#else
#define CONTROL_LAW_UNIT MathOp_t.RSQRT, INTERVAL
#endif

#endif
