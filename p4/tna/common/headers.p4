// Headers that the programs of this folder share: the frame, and the first byte of what travels in
// front of it inside the switch.
//
// Nothing in egress's metadata tells a mirrored copy from an ordinary packet, so every packet that
// enters egress starts with a byte that says which it is.
#ifndef COMMON_HEADERS_P4
#define COMMON_HEADERS_P4

const bit<8> KIND_DATA = 0;         // a packet from ingress; programs number their own from 1

// As far as any of these programs has to look: they read no address and no payload.
header ethernet_h {
    bit<48> destination;
    bit<48> source;
    bit<16> ethertype;
}

#endif
