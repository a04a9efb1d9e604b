// Every parser starts in `start`.
// expect-error: start at line 5
#include <core.p4>
struct S { bit<8> r; }
parser P(packet_in packet, inout S s) {
    state begin { transition accept; }
}
