// The near name is suggested.
// expect-error: parse_ipv4 at line 9
#include <core.p4>
struct S { bit<8> r; }
parser TestParser(packet_in packet, inout S s);
package Main(TestParser p);
parser P(packet_in packet, inout S s) {
    state start {
        transition parse_ip4;
    }
    state parse_ipv4 { transition accept; }
}
Main(P()) main;
