// Packet generator and named idle timeouts, which only Tofino 2 declares.
#ifndef SOJOURN_TOFINO2_PKTGEN_P4
#define SOJOURN_TOFINO2_PKTGEN_P4

// Ingress deparser, inside `if (...pktgen == 1)`: at most 16 bytes in front of the packet that the
// generator makes.
extern Pktgen {
    Pktgen();
    void emit<T>(in T hdr);
}

extern IdleTimeout {
    IdleTimeout();
}

#endif
