// Blocks of the PSA test programs that do the same in each: a frame with an Ethernet header and a
// `note_t` of the program; egress and the deparsers pass it on.
#include <core.p4>
#include <psa.p4>

header eth_t { bit<48> dst; bit<48> src; bit<16> kind; }
struct headers_t { eth_t eth; note_t note; }
struct meta_t {}
struct empty_t {}

parser InParser(packet_in p, out headers_t h, inout meta_t m,
                in psa_ingress_parser_input_metadata_t istd, in empty_t r, in empty_t c) {
    state start { p.extract(h.eth); p.extract(h.note); transition accept; }
}
control InDeparser(packet_out p, out empty_t c, out empty_t r, out empty_t n, inout headers_t h,
                   in meta_t m, in psa_ingress_output_metadata_t istd) {
    apply { p.emit(h.eth); p.emit(h.note); }
}
parser OutParser(packet_in p, out headers_t h, inout meta_t m,
                 in psa_egress_parser_input_metadata_t istd, in empty_t n, in empty_t i,
                 in empty_t e) {
    state start { transition accept; }
}
control OutControl(inout headers_t h, inout meta_t m, in psa_egress_input_metadata_t istd,
                   inout psa_egress_output_metadata_t ostd) {
    apply {}
}
control OutDeparser(packet_out p, out empty_t c, out empty_t r, inout headers_t h, in meta_t m,
                    in psa_egress_output_metadata_t istd,
                    in psa_egress_deparser_input_metadata_t edstd) {
    apply { p.emit(h.eth); p.emit(h.note); }
}
