// lookahead does not move, advance does; extract into `_` skips; length counts bytes.
// expect: ok
// packet: aabbccddee
// output: peek=0xaa first=0xaa third=0xcc last=0xee length=5
#include <core.p4>
header Byte { bit<8> f; }
struct S { bit<8> peek; bit<8> first; bit<8> third; bit<8> last; bit<32> length; }
parser TestParser(packet_in packet, inout S s);
package Main(TestParser p);
parser P(packet_in packet, inout S s) {
    Byte b;
    state start {
        s.length = packet.length();
        s.peek = packet.lookahead<bit<8>>();
        packet.extract(b);
        s.first = b.f;
        packet.advance(8);
        s.third = packet.lookahead<Byte>().f;
        packet.extract<Byte>(_);
        packet.advance((bit<32>)8);
        packet.extract(b);
        s.last = b.f;
        transition accept;
    }
}
Main(P()) main;
