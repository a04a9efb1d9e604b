// Arithmetic and the like on two bytes of the packet; what the kind chooses is written behind them.
#include <core.p4>
#include <v1model.p4>

header operands_h { bit<8> kind; bit<8> a; bit<8> b; bit<16> result; }
struct headers_t { operands_h in_; }
struct metadata_t {}
struct pair_t { bit<8> first; bit<8> second; }

enum bit<8> Kind {
    ADD = 1, SATURATE = 2, SUBTRACT = 3, SHIFT = 4, SIGNED = 5, CONCATENATE = 6, SLICE = 7,
    COMPARE = 8, CHOOSE = 9, MULTIPLY = 10, DIVIDE = 11, STRUCTS = 12, LOOPS = 13
}

bit<8> larger(in bit<8> x, in bit<8> y) {
    if (x > y) { return x; }
    return y;
}

parser TestParser(packet_in packet, out headers_t hdr, inout metadata_t md,
                  inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.in_);
        transition accept;
    }
}

control NoVerify(inout headers_t hdr, inout metadata_t md) { apply {} }
control NoUpdate(inout headers_t hdr, inout metadata_t md) { apply {} }

control TestIngress(inout headers_t hdr, inout metadata_t md,
                inout standard_metadata_t standard_metadata) {
    action swap(inout pair_t pair) {
        pair = { first = pair.second, second = pair.first };
    }

    apply {
        standard_metadata.egress_spec = 9;
        bit<8> a = hdr.in_.a;
        bit<8> b = hdr.in_.b;
        bit<16> r = 0;
        switch (hdr.in_.kind) {
            Kind.ADD: { r = (bit<16>)(a + b); }
            Kind.SATURATE: { r = (a |+| b) ++ (a |-| b); }
            Kind.SUBTRACT: { r = (bit<16>)(a - b); }
            Kind.SHIFT: { r = (a << b[2:0]) ++ (a >> b[2:0]); }
            Kind.SIGNED: {
                int<8> x = (int<8>)a;
                r = (bit<16>)(int<16>)(x >> 1);
            }
            Kind.CONCATENATE: { r = a[3:0] ++ b ++ a[7:4]; }
            Kind.SLICE: {
                r[15:12] = b[3:0];
                r[3:0] = a[7:4];
            }
            Kind.COMPARE: {
                if ((int<8>)a < (int<8>)b && a > b) { r = 1; }
                else if (a == b || !(a != 0)) { r = 2; }
            }
            Kind.CHOOSE: { r = (bit<16>)(a > 0x7f ? ~b : larger(a, b)); }
            Kind.MULTIPLY: { r = (bit<16>)a * (bit<16>)b; }
            Kind.DIVIDE: { r = (bit<16>)(a / 4) ^ ((bit<16>)(a % 4) << 8) | 16w0x8000 & 16w0xf000; }
            Kind.STRUCTS: {
                pair_t pair = { a, b };
                swap(pair);
                r = pair.first ++ pair.second;
            }
            Kind.LOOPS: {
                for (bit<8> i = 0; i < a; i = i + 1) {
                    if (i == 7) { break; }
                    if (i == 2) { continue; }
                    r = r + (bit<16>)b;
                }
            }
            default: { r = 0xffff; }
        }
        hdr.in_.result = r;
    }
}

control NoEgress(inout headers_t hdr, inout metadata_t md,
                 inout standard_metadata_t standard_metadata) { apply {} }

control TestDeparser(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }

V1Switch(TestParser(), NoVerify(), TestIngress(), NoEgress(), NoUpdate(), TestDeparser()) main;
