// Without a matching case the parser rejects with NoMatch.
// expect: ok
// packet: 07
// verdict: accept
// output: r=7
// packet: 08
// verdict: reject
// parser-error: NoMatch
#include <core.p4>
header H { bit<8> kind; }
struct S { bit<8> r; }
parser TestParser(packet_in packet, inout S s);
package Main(TestParser p);
parser P(packet_in packet, inout S s) {
    H h;
    state start {
        packet.extract(h);
        transition select(h.kind) {
            7: seven;
        }
    }
    state seven { s.r = 7; transition accept; }
}
Main(P()) main;
