// extract beyond the end rejects with PacketTooShort, and leaves the header invalid.
// expect: ok
// packet: 0102
// verdict: reject
// parser-error: PacketTooShort
// packet: 01020304
// verdict: accept
// output: f=0x01020304
#include <core.p4>
header H { bit<32> f; }
struct S { bit<32> f; }
parser TestParser(packet_in packet, inout S s);
package Main(TestParser p);
parser P(packet_in packet, inout S s) {
    H h;
    state start {
        packet.extract(h);
        s.f = h.f;
        transition accept;
    }
}
Main(P()) main;
