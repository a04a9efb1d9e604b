// The parser: header stacks, lookahead, advance, varbit, select by value, mask, range and value set,
// sub-parsers, errors, header unions.
#include <core.p4>
#define V1MODEL_VERSION 20200408
#include <v1model.p4>

error { TooMany }

header kind_h   { bit<8> kind; bit<8> error_code; }
header label_h  { bit<7> value; bit<1> last; }
header text_h   { bit<8> length; varbit<64> text; }
header small_h  { bit<8> value; }
header large_h  { bit<16> value; }

header_union either_u {
    small_h small;
    large_h large;
}

struct headers_t {
    kind_h     kind;
    label_h[3] labels;
    text_h     text;
    either_u   either;
    small_h    choice;
}
struct metadata_t { bit<8> next; }

parser Labels(packet_in packet, inout headers_t hdr) {
    state start {
        packet.extract(hdr.labels.next);
        transition select(hdr.labels.last.last) {
            0: start;
            1: accept;
        }
    }
}

parser TestParser(packet_in packet, out headers_t hdr, inout metadata_t md,
                  inout standard_metadata_t standard_metadata) {
    Labels() labels;
    value_set<bit<8>>(4) chosen;

    state start {
        packet.extract(hdr.kind);
        transition select(hdr.kind.kind) {
            1: labelled;
            2: texts;
            3: union_by_lookahead;
            4: skipping;
            5: refused;
            6 .. 8: by_choice;
            0x90 &&& 0xf0: by_choice;
            chosen: by_choice;
            default: accept;
        }
    }
    state labelled {
        labels.apply(packet, hdr);
        transition accept;
    }
    state texts {
        md.next = packet.lookahead<bit<8>>();
        packet.extract(hdr.text, (bit<32>)md.next * 8);
        transition accept;
    }
    state union_by_lookahead {
        transition select(packet.lookahead<bit<1>>()) {
            0: small;
            1: large;
        }
    }
    state small {
        packet.extract(hdr.either.small);
        transition accept;
    }
    state large {
        packet.extract(hdr.either.large);
        transition accept;
    }
    state skipping {
        packet.advance(16);
        packet.extract(hdr.choice);
        transition accept;
    }
    state refused {
        packet.extract(hdr.choice);
        verify(hdr.choice.value < 10, error.TooMany);
        transition accept;
    }
    state by_choice {
        packet.extract(hdr.choice);
        transition accept;
    }
}

control NoVerify(inout headers_t hdr, inout metadata_t md) { apply {} }
control NoUpdate(inout headers_t hdr, inout metadata_t md) { apply {} }

control TestIngress(inout headers_t hdr, inout metadata_t md,
                inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 9;
        if (standard_metadata.parser_error == error.NoError) { hdr.kind.error_code = 0; }
        else if (standard_metadata.parser_error == error.PacketTooShort) { hdr.kind.error_code = 1; }
        else if (standard_metadata.parser_error == error.StackOutOfBounds) { hdr.kind.error_code = 2; }
        else if (standard_metadata.parser_error == error.HeaderTooShort) { hdr.kind.error_code = 3; }
        else if (standard_metadata.parser_error == error.TooMany) { hdr.kind.error_code = 4; }
        else { hdr.kind.error_code = 9; }
        if (hdr.labels[0].isValid()) { hdr.labels[0].value = hdr.labels[0].value + 1; }
        if (hdr.either.small.isValid()) {
            hdr.either.large.setValid();
            hdr.either.large.value = 0xabcd;
        }
    }
}

control NoEgress(inout headers_t hdr, inout metadata_t md,
                 inout standard_metadata_t standard_metadata) { apply {} }

control TestDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.kind);
        packet.emit(hdr.labels);
        packet.emit(hdr.text);
        packet.emit(hdr.either);
        packet.emit(hdr.choice);
    }
}

V1Switch(TestParser(), NoVerify(), TestIngress(), NoEgress(), NoUpdate(), TestDeparser()) main;
