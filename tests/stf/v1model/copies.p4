// Copies and ways back: clones from ingress and egress, multicast, resubmission, recirculation, drops.
#define WITH_METADATA
struct metadata_t {
    @field_list(1, 2) bit<8> kept;
    @field_list(2)    bit<8> also;
    bit<8> lost;
}
#include "frame.p4"

control TestIngress(inout headers_t hdr, inout metadata_t md,
                inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 9;
        if (standard_metadata.instance_type == 6) {
            // Resubmitted: the packet as it came, with the metadata of the list.
            hdr.frame.note = md.kept + md.also + md.lost;
        } else if (standard_metadata.instance_type == 4) {
            // Recirculated: the packet as the deparser wrote it.
            hdr.frame.note = hdr.frame.note + md.kept;
        } else if (hdr.frame.kind == 1) {
            clone(CloneType.I2E, 5);
            hdr.frame.note = 0x11;
        } else if (hdr.frame.kind == 2) {
            md.kept = 0x30;
            md.lost = 0x03;
            clone_preserving_field_list(CloneType.I2E, 5, 1);
        } else if (hdr.frame.kind == 4) {
            standard_metadata.mcast_grp = hdr.frame.key;
        } else if (hdr.frame.kind == 5) {
            md.kept = 0x10;
            md.also = 0x20;
            md.lost = 0x07;
            hdr.frame.key = 0xffff;
            resubmit_preserving_field_list(2);
        } else if (hdr.frame.kind == 6) {
            mark_to_drop(standard_metadata);
        } else if (hdr.frame.kind == 8) {
            mark_to_drop(standard_metadata);
            standard_metadata.mcast_grp = hdr.frame.key;
        } else if (hdr.frame.kind == 9) {
            truncate(3);
        }
    }
}

control TestEgress(inout headers_t hdr, inout metadata_t md,
               inout standard_metadata_t standard_metadata) {
    apply {
        if (standard_metadata.instance_type == 1) {
            hdr.frame.note = hdr.frame.note + 0x80 + md.kept + md.lost;
        } else if (standard_metadata.instance_type == 2) {
            hdr.frame.note = 0xe2;
        } else if (hdr.frame.kind == 3) {
            clone(CloneType.E2E, 6);
            hdr.frame.key = 0x3333;
        } else if (standard_metadata.egress_rid != 0) {
            hdr.frame.note = (bit<8>)standard_metadata.egress_rid;
        } else if (hdr.frame.kind == 7) {
            hdr.frame.kind = 0;
            hdr.frame.note = 0x40;
            md.kept = 5;
            recirculate_preserving_field_list(1);
        } else if (hdr.frame.kind == 10) {
            mark_to_drop(standard_metadata);
        }
    }
}

V1Switch(FrameParser(), NoVerify(), TestIngress(), TestEgress(), NoUpdate(), FrameDeparser()) main;
