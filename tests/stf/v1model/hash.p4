// Hashes of the nine bytes "123456789", whose values are published, and numbers that are drawn.
#include <core.p4>
#define V1MODEL_VERSION 20200408
#include <v1model.p4>

header text_h { bit<8> kind; bit<72> text; bit<32> result; }
struct headers_t { text_h text; }
struct metadata_t {}

parser TestParser(packet_in packet, out headers_t hdr, inout metadata_t md,
                  inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.text);
        transition accept;
    }
}

control NoVerify(inout headers_t hdr, inout metadata_t md) { apply {} }
control NoUpdate(inout headers_t hdr, inout metadata_t md) { apply {} }

control TestIngress(inout headers_t hdr, inout metadata_t md,
                inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 9;
        bit<32> r = 0;
        bit<32> zero = 0;
        bit<64> all = 0x100000000;
        if (hdr.text.kind == 1) {
            hash(r, HashAlgorithm.crc32, zero, { hdr.text.text }, all);
        } else if (hdr.text.kind == 2) {
            hash(r, HashAlgorithm.crc16, zero, { hdr.text.text }, all);
        } else if (hdr.text.kind == 3) {
            hash(r, HashAlgorithm.csum16, zero, { hdr.text.text[71:40] }, all);
        } else if (hdr.text.kind == 4) {
            hash(r, HashAlgorithm.xor16, zero, { hdr.text.text[71:40] }, all);
        } else if (hdr.text.kind == 5) {
            hash(r, HashAlgorithm.identity, zero, { hdr.text.text[71:40] }, all);
        } else if (hdr.text.kind == 6) {
            // base + hash mod max
            hash(r, HashAlgorithm.crc16, 32w0x100, { hdr.text.text }, 32w16);
        } else {
            random(r, 32w7, 32w7);
        }
        hdr.text.result = r;
    }
}

control NoEgress(inout headers_t hdr, inout metadata_t md,
                 inout standard_metadata_t standard_metadata) { apply {} }

control TestDeparser(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }

V1Switch(TestParser(), NoVerify(), TestIngress(), NoEgress(), NoUpdate(), TestDeparser()) main;
