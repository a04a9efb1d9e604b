// The two-argument extract takes whole bytes only: other lengths are ParserInvalidArgument, whatever
// else would be wrong with them (specification 12.8.2 allows targets to ask for that).
// expect: ok
// packet: 08 aa
// verdict: accept
// output: length=8
// packet: 07 aa
// verdict: reject
// parser-error: ParserInvalidArgument
// packet: 21 aa
// verdict: reject
// parser-error: ParserInvalidArgument
#include <core.p4>
header Options { bit<8> length; varbit<32> data; }
struct S { bit<8> length; Options o; }
parser TestParser(packet_in packet, inout S s);
package Main(TestParser p);
parser P(packet_in packet, inout S s) {
    state start {
        bit<8> n = packet.lookahead<bit<8>>();
        packet.extract(s.o, (bit<32>)n);
        s.length = s.o.length;
        transition accept;
    }
}
Main(P()) main;
