// select: values, masks, ranges, tuples of keys, don't care, order of cases, default.
// expect: ok
// packet: 0800 40
// output: r=1
// packet: 0806 40
// output: r=2
// packet: 86dd 40
// output: r=3
// packet: 9105 07
// output: r=4
// packet: 9105 40
// output: r=5
#include <core.p4>
header H { bit<16> kind; bit<8> ttl; }
struct S { bit<8> r; }
parser TestParser(packet_in packet, inout S s);
package Main(TestParser p);
parser P(packet_in packet, inout S s) {
    H h;
    state start {
        packet.extract(h);
        transition select(h.kind, h.ttl) {
            (0x0800, _): value;
            (0x0800 &&& 0xff00, _): masked;
            (0x86d0 .. 0x86df, 0x40): range;
            (_, 0 .. 7): small;
            default: other;
        }
    }
    state value { s.r = 1; transition accept; }
    state masked { s.r = 2; transition accept; }
    state range { s.r = 3; transition accept; }
    state small { s.r = 4; transition accept; }
    state other { s.r = 5; transition accept; }
}
Main(P()) main;
