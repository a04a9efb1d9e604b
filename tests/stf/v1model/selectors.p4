// An action selector chooses a member by the hash of its keys, modulo the members of the group.
#include <core.p4>
#define V1MODEL_VERSION 20200408
#include <v1model.p4>

header text_h { bit<8> kind; bit<72> text; bit<8> note; }

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
    action note(bit<8> value) { hdr.text.note = value; }
    action miss() { hdr.text.note = 0xff; }

    // bmv2 does not look at the width of the result.
    action_selector(HashAlgorithm.crc16, 16, 4) by_crc16;
    action_selector(HashAlgorithm.crc32, 16, 32) by_crc32;

    table first {
        key = { hdr.text.kind : exact; hdr.text.text : selector; }
        actions = { note; miss; }
        default_action = miss();
        implementation = by_crc16;
    }
    table second {
        key = { hdr.text.kind : exact; hdr.text.text : selector; }
        actions = { note; miss; }
        default_action = miss();
        implementation = by_crc32;
    }

    apply {
        standard_metadata.egress_spec = 9;
        if (hdr.text.kind == 1) { first.apply(); }
        else { second.apply(); }
    }
}

control NoEgress(inout headers_t hdr, inout metadata_t md,
                 inout standard_metadata_t standard_metadata) { apply {} }
control TestDeparser(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.text); } }

V1Switch(TestParser(), NoVerify(), TestIngress(), NoEgress(), NoUpdate(), TestDeparser()) main;
