// TNA program whose egress control a test fills in.
#include <core.p4>
#include <tna.p4>
header ethernet_h { bit<48> dst; bit<48> src; bit<16> kind; }
struct headers_t { ethernet_h ethernet; }
struct ig_md_t { bit<16> word; bit<8> tag; }
struct eg_md_t { bit<32> now; bit<32> a; bit<32> b; bit<32> c; bit<16> d; bit<8> e; bit<1> f;  }
parser IgParser(packet_in p, out headers_t h, out ig_md_t m, out ingress_intrinsic_metadata_t i) {
    state start {
        p.extract(i); p.advance(PORT_METADATA_SIZE); p.extract(h.ethernet); transition accept;
    }
}
control Ig(inout headers_t h, inout ig_md_t m, in ingress_intrinsic_metadata_t i,
           in ingress_intrinsic_metadata_from_parser_t ip,
           inout ingress_intrinsic_metadata_for_deparser_t id,
           inout ingress_intrinsic_metadata_for_tm_t t) {
        apply { }
}
control IgDeparser(packet_out p, inout headers_t h, in ig_md_t m,
                   in ingress_intrinsic_metadata_for_deparser_t d) {
    apply { p.emit(h.ethernet); }
}
parser EgParser(packet_in p, out headers_t h, out eg_md_t m, out egress_intrinsic_metadata_t e) {
    state start { p.extract(e); p.extract(h.ethernet); transition accept; }
}
control Eg(inout headers_t h, inout eg_md_t m, in egress_intrinsic_metadata_t e,
           in egress_intrinsic_metadata_from_parser_t ep,
           inout egress_intrinsic_metadata_for_deparser_t d,
           inout egress_intrinsic_metadata_for_output_port_t o) {
    DECLARATIONS
    apply { STATEMENTS }
}
control EgDeparser(packet_out p, inout headers_t h, in eg_md_t m,
                   in egress_intrinsic_metadata_for_deparser_t d) {
    apply { p.emit(h.ethernet); }
}
Pipeline(IgParser(), Ig(), IgDeparser(), EgParser(), Eg(), EgDeparser()) pipe;
Switch(pipe) main;
