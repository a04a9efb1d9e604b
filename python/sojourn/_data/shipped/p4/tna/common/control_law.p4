// CoDel's parameters and its control law, INTERVAL / sqrt(count), as the stateful ALU can compute it.
#ifndef COMMON_CONTROL_LAW_P4
#define COMMON_CONTROL_LAW_P4

// RFC 8289, section 4.4 and 4.3. A program may set others before it includes an AQM.
#ifndef TARGET
#define TARGET      5000000         // ns: delay that may stand in a queue for good
#endif
#ifndef INTERVAL
#define INTERVAL    100000000       // ns: time a sender needs to react to a drop
#endif

// The math unit that P4-CoDel publishes, for INTERVAL = 100 ms:
//
//   MathUnit<bit<32>>(CONTROL_LAW_UNIT) name;
//
// true, -1 mean "one over the square root"; 20 is the scale: results are table entries * 2^(20 + e).
// The table's entry i stands for 100 ms / sqrt(i / 8) / 2^20; it is written from entry 15 down to
// entry 0, and for a square root only entries 4 to 15 are used. With three leading bits of the
// count to go by, results are up to 12 % too long and 4 % on average, never more than 0.2 % too
// short. (The authors of CoDel-ACT measured 42 to 58 % on their switch; see README.md.)
//
// A unit belongs to one register (TNA p. 64), hence a macro and not one shared instance.
#define CONTROL_LAW_UNIT true, -1, 20, { \
    0x46, 0x48, 0x4b, 0x4e, 0x52, 0x56, 0x5a, 0x60, \
    0x66, 0x6f, 0x79, 0x87, 0x00, 0x00, 0x00, 0x00 }

#endif
