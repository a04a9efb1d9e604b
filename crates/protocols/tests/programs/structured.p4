#include <core.p4>
#include <v1model.p4>

// Structured annotations whose values the compiler has to fold.
header key_t { bit<8> key; }
struct headers_t { key_t key; }
struct metadata_t { }

const int N = 3;
const bool B = false;
const int NARROW = 9;
const string WORD = "x_";

parser P(packet_in packet, out headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    state start { packet.extract(h.key); transition accept; }
}
control V(inout headers_t h, inout metadata_t m) { apply { } }
control I(inout headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    action set(@Here[N, !B] bit<8> value) { h.key.key = value; }
    @List[1, false, 1 == 2, 1 == 1, B, !B, 2 > 3, N, -4, 5 + 6, "t", NARROW, -2, WORD ++ "y",
          (N < 4) && !(B || N != 3)]
    @Pairs[a = false, b = 1 == 2, c = true, d = B, e = N + 1]
    table t {
        key = { h.key.key : exact @Here[N, !B]; }
        actions = { @Here[N, !B] set; }
    }
    apply { s.egress_spec = 1; t.apply(); }
}
control E(inout headers_t h, inout metadata_t m, inout standard_metadata_t s) { apply { } }
control C(inout headers_t h, inout metadata_t m) { apply { } }
control D(packet_out packet, in headers_t h) { apply { packet.emit(h.key); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
