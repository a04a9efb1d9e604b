//! T0802: a pipeline has six blocks with the parameters of TNA.

#ifdef BROKEN
// Another architecture's pipeline, with names like those of TNA.
control Block(inout bit<8> value);
package Pipeline(Block only);
package Switch(Pipeline pipe);

control Nothing(inout bit<8> value) {
    apply { }
}

Pipeline(Nothing()) pipe;
Switch(pipe) main;
#else
#include <core.p4>
#include <tna.p4>
#include "shared/types.p4"
#include "shared/ingress.p4"

control Egress(inout headers_t hdr, inout metadata_t meta,
               in egress_intrinsic_metadata_t eg,
               in egress_intrinsic_metadata_from_parser_t prsr,
               inout egress_intrinsic_metadata_for_deparser_t dprs,
               inout egress_intrinsic_metadata_for_output_port_t oport) {
    apply { }
}

control EgressDeparser(packet_out packet, inout headers_t hdr, in metadata_t meta,
                       in egress_intrinsic_metadata_for_deparser_t dprs) {
    apply {
        packet.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(),
         EgressDeparser()) pipe;
Switch(pipe) main;
#endif
