// verify rejects with the given error, at once.
// expect: ok
// packet: 45
// verdict: accept
// output: r=1
// packet: 65
// verdict: reject
// parser-error: WrongVersion
#include <core.p4>
error { WrongVersion }
header H { bit<4> version; bit<4> ihl; }
struct S { bit<8> r; }
parser TestParser(packet_in packet, inout S s);
package Main(TestParser p);
parser P(packet_in packet, inout S s) {
    H h;
    state start {
        packet.extract(h);
        verify(h.version == 4, error.WrongVersion);
        s.r = 1;
        transition accept;
    }
}
Main(P()) main;
