// What a case is chosen by does not depend on the packet, neither as a value nor through a call.
// expect-error: the keyset of a `select` must be known at line 10
// expect-error: the keyset of a `select` must be known at line 11
// expect-error: the keyset of a `select` must be known at line 12
#include <core.p4>
header H { bit<8> a; bit<8> b; }
bit<8> five() { return 5; }
parser P(packet_in packet, out H h) {
    state start { packet.extract(h); transition select(h.a) {
        five(): accept;
        h.b &&& 3: accept;
        0 .. h.b: accept;
        _: reject;
    } }
}
