// Checksums: of an IPv4-like header, verified and updated, and one that covers the payload.
#include <core.p4>
#include <v1model.p4>

header sum_h { bit<16> first; bit<16> second; bit<16> sum; }
header whole_h { bit<8> wrong; bit<8> kind; bit<16> sum; }
struct headers_t { sum_h sum; whole_h whole; }
struct metadata_t {}

parser TestParser(packet_in packet, out headers_t hdr, inout metadata_t md,
                  inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.sum);
        packet.extract(hdr.whole);
        transition accept;
    }
}

control TestVerify(inout headers_t hdr, inout metadata_t md) {
    apply {
        verify_checksum(hdr.whole.kind == 1, { hdr.sum.first, hdr.sum.second },
                        hdr.sum.sum, HashAlgorithm.csum16);
        verify_checksum_with_payload(hdr.whole.kind == 2, { hdr.sum.first },
                                     hdr.whole.sum, HashAlgorithm.csum16);
    }
}

control TestIngress(inout headers_t hdr, inout metadata_t md,
                inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 9;
        hdr.whole.wrong = (bit<8>)standard_metadata.checksum_error;
    }
}

control NoEgress(inout headers_t hdr, inout metadata_t md,
                 inout standard_metadata_t standard_metadata) { apply {} }

control TestUpdate(inout headers_t hdr, inout metadata_t md) {
    apply {
        update_checksum(hdr.whole.kind == 3, { hdr.sum.first, hdr.sum.second },
                        hdr.sum.sum, HashAlgorithm.csum16);
        update_checksum_with_payload(hdr.whole.kind == 4, { hdr.sum.first },
                                     hdr.whole.sum, HashAlgorithm.csum16);
    }
}

control TestDeparser(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }

V1Switch(TestParser(), TestVerify(), TestIngress(), NoEgress(), TestUpdate(), TestDeparser()) main;
