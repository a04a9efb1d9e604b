// A case has the type of the key.
// expect-error: at line 13
#include <core.p4>
header H { bit<16> kind; }
struct S { bit<8> r; }
parser TestParser(packet_in packet, inout S s);
package Main(TestParser p);
parser P(packet_in packet, inout S s) {
    H h;
    state start {
        packet.extract(h);
        transition select(h.kind) {
            8w6: accept;
            default: reject;
        }
    }
}
Main(P()) main;
