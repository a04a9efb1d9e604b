// next, last and lastIndex in a loop over a stack; one element too many is StackOutOfBounds.
// expect: ok
// packet: 01 02 83
// verdict: accept
// output: sum=6 index=2 first=1
// packet: 81
// verdict: accept
// output: sum=1 index=0 first=1
// packet: 01 01 01 81
// verdict: reject
// parser-error: StackOutOfBounds
#include <core.p4>
header Label { bit<1> bottom; bit<7> value; }
struct S { bit<8> sum; bit<32> index; bit<8> first; }
parser TestParser(packet_in packet, inout S s);
package Main(TestParser p);
parser P(packet_in packet, inout S s) {
    Label[3] labels;
    state start {
        packet.extract(labels.next);
        s.sum = s.sum + (bit<8>)labels.last.value;
        s.index = labels.lastIndex;
        transition select(labels.last.bottom) {
            0: start;
            1: done;
        }
    }
    state done {
        s.first = (bit<8>)labels[0].value;
        transition accept;
    }
}
Main(P()) main;
