//! The end of the egress control, and what follows it.

}

control EgressDeparser(packet_out packet, inout headers_t hdr, in metadata_t meta,
                       in egress_intrinsic_metadata_for_deparser_t dprs) {
    apply {
        packet.emit(hdr);
    }
}

#include "main.p4"
