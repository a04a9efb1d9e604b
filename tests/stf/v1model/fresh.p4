/* What is in a header that becomes valid: nothing, wherever it was before. */
#include <core.p4>
#include <v1model.p4>

header eth_t { bit<48> dst; bit<48> src; bit<16> kind; }
header note_t { bit<8> a; bit<8> b; bit<16> c; }
struct headers_t { eth_t eth; note_t note; note_t[2] notes; }
struct meta_t { bit<8> m; }

parser P(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    state start {
        p.extract(h.eth);
        p.extract(h.note);
        p.extract(h.notes.next);
        transition accept;
    }
}

control V(inout headers_t h, inout meta_t m) { apply {} }

control I(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    apply {
        // One that was there, one in a stack, one that was only written to.
        h.note.setInvalid();
        m.m = h.note.a;
        h.note.setValid();
        h.note.b = m.m;
        h.notes[0].setInvalid();
        h.notes[0].setValid();
        h.notes[0].b = 9;
        h.notes[1].a = 7;
        h.notes[1].setValid();
        h.notes[1].b = 8;
        // One that is valid stays as it is.
        h.eth.setValid();
        s.egress_spec = 2;
    }
}

control E(inout headers_t h, inout meta_t m, inout standard_metadata_t s) { apply {} }
control C(inout headers_t h, inout meta_t m) { apply {} }
control D(packet_out p, in headers_t h) { apply { p.emit(h.eth); p.emit(h.note); p.emit(h.notes); } }

V1Switch(P(), V(), I(), E(), C(), D()) main;
