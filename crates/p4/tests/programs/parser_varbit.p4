// A header of variable length: the two-argument extract; too long is HeaderTooShort; emit writes it
// with the length it has.
// expect: ok
// packet: 02 aabb cc
// verdict: accept
// output: length=2
// emitted: 02aabb
// packet: 00 cc
// verdict: accept
// output: length=0
// emitted: 00
// packet: 05 0102030405
// verdict: reject
// parser-error: HeaderTooShort
#include <core.p4>
header Options { bit<8> length; varbit<32> data; }
struct S { bit<8> length; Options o; }
parser TestParser(packet_in packet, inout S s);
control TestDeparser(packet_out packet, in S s);
package Main(TestParser p, TestDeparser d);
parser P(packet_in packet, inout S s) {
    state start {
        bit<8> n = packet.lookahead<bit<8>>();
        packet.extract(s.o, (bit<32>)n * 8);
        s.length = s.o.length;
        transition accept;
    }
}
control D(packet_out packet, in S s) {
    apply { packet.emit(s.o); }
}
Main(P(), D()) main;
