// INT-MD's own headers, in front of what switches have measured (headers.p4 says where they stand in a packet).
// Must not depend on an architecture, nor on what is measured.
#ifndef INT_MD_P4
#define INT_MD_P4

// The specifications name no UDP ports: all switches of a network and its collector agree on them.
#ifndef INT_PORT
#define INT_PORT    5000
#endif

const bit<4>  INT_VERSION      = 2;
const bit<4>  INT_TYPE_MD      = 1;

header int_shim_h {                         // 4 bytes
    bit<4>  type;                           // INT_TYPE_MD
    bit<2>  npt;
    bit<2>  reserved;
    bit<8>  length;                         // words behind this header: INT-MD and stack
    bit<8>  reserved_too;
    bit<8>  protocol;                       // the packet's own, with NPT 2
}

header int_md_h {                           // 12 bytes
    bit<4>  version;
    bit<1>  discard;                        // D: the sink drops the packet
    bit<1>  exceeded;                       // E: a hop found no hops remaining
    bit<1>  mtu_exceeded;                   // M
    bit<12> reserved;
    bit<5>  hop_words;                      // Hop ML: what each hop pushes
    bit<8>  remaining_hops;
    bit<16> instructions;                   // what a hop pushes, a bit each
    bit<16> domain;                         // 0: nothing specific to a domain
    bit<16> domain_instructions;
    bit<16> domain_flags;
}

#endif
