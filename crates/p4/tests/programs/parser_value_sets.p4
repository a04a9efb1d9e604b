// A value set is a case that the control plane fills; empty, it matches nothing.
// expect: ok
// packet: 0800
// output: r=2
#include <core.p4>
header H { bit<16> kind; }
struct S { bit<8> r; }
parser TestParser(packet_in packet, inout S s);
package Main(TestParser p);
parser P(packet_in packet, inout S s) {
    value_set<bit<16>>(4) kinds;
    H h;
    state start {
        packet.extract(h);
        transition select(h.kind) {
            kinds: known;
            _: unknown;
        }
    }
    state known { s.r = 1; transition accept; }
    state unknown { s.r = 2; transition accept; }
}
Main(P()) main;
