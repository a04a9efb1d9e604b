// A sub-parser takes the packet where the caller stands, and gives it back where it stops.
// expect: ok
// packet: 01 02 03
// output: first=1 inner=2 last=3
#include <core.p4>
header Byte { bit<8> f; }
struct S { bit<8> first; bit<8> inner; bit<8> last; }
parser TestParser(packet_in packet, inout S s);
package Main(TestParser p);
parser Inner(packet_in packet, out bit<8> value) {
    Byte b;
    state start {
        packet.extract(b);
        transition next;
    }
    state next {
        value = b.f;
        transition accept;
    }
}
parser P(packet_in packet, inout S s) {
    Byte b;
    Inner() inner;
    state start {
        packet.extract(b);
        s.first = b.f;
        inner.apply(packet, s.inner);
        packet.extract(b);
        s.last = b.f;
        transition accept;
    }
}
Main(P()) main;
