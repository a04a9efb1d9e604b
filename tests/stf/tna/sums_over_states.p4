// Checksums that are added to in several states, asked more than once, and whose verdicts are OR-ed or
// take the place of a field that was extracted.
#include <core.p4>
#include <tna.p4>
header part_h { bit<15> value; bool flag; }
struct headers_t { part_h first; part_h second; part_h third; }
struct metadata_t { bool wrong; }
parser IP(packet_in p, out headers_t h, out metadata_t m, out ingress_intrinsic_metadata_t i) {
    Checksum() all;
    Checksum() last;
    state start {
        p.extract(i); p.advance(PORT_METADATA_SIZE);
        p.extract(h.first); all.add(h.first);
        transition second;
    }
    state second {
        p.extract(h.second); all.add(h.second);
        m.wrong = all.verify();
        transition third;
    }
    state third {
        p.extract(h.third); all.add(h.third); last.add(h.third);
        // The field has what was extracted: the verdict takes its place.
        h.third.flag = all.verify();
        m.wrong = last.verify() || m.wrong;
        transition accept;
    }
}
control I(inout headers_t h, inout metadata_t m, in ingress_intrinsic_metadata_t i,
          in ingress_intrinsic_metadata_from_parser_t p,
          inout ingress_intrinsic_metadata_for_deparser_t d,
          inout ingress_intrinsic_metadata_for_tm_t t) {
    apply {
        t.ucast_egress_port = 2;
        if (m.wrong) { t.ucast_egress_port = 4; }
    }
}
control ID(packet_out p, inout headers_t h, in metadata_t m,
           in ingress_intrinsic_metadata_for_deparser_t d) {
    apply { p.emit(h); }
}
parser EP(packet_in p, out headers_t h, out metadata_t m, out egress_intrinsic_metadata_t e) {
    state start { p.extract(e); transition accept; }
}
control E(inout headers_t h, inout metadata_t m, in egress_intrinsic_metadata_t e,
          in egress_intrinsic_metadata_from_parser_t p,
          inout egress_intrinsic_metadata_for_deparser_t d,
          inout egress_intrinsic_metadata_for_output_port_t t) {
    apply {}
}
control ED(packet_out p, inout headers_t h, in metadata_t m,
           in egress_intrinsic_metadata_for_deparser_t d) {
    apply {}
}
Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
