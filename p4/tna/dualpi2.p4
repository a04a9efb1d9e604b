// A router with DualPI2 (aqm/dualpi2.p4) in egress: 3 stages of ingress, 11 of egress.
//
//   common/l3_ingress.p4 -> queue 1, L4S: ECT(1), CE -----+-> bridge header off -> DualPi2 -> port
//                        -> queue 0, Classic: the others -+                           |
//   packet generator, each T_UPDATE -> queue 0, Classic ------> updates p' ---------> ends
//
// Control plane: dualpi2.toml has the routes, both queues with their weights, and the packet generator,
// whose packets name the bottleneck's port. The port needs a shaper if it is to be slower than its line.
#include <core.p4>
#include "common/chip.p4"

#define L4S_QUEUES
#define GENERATED_KIND 8w1              // KIND_UPDATE
#include "common/l3_ingress.p4"
#include "aqm/dualpi2.p4"

struct egress_metadata_t {
    bit<2>  ecn;
    bit<8>  signal;
    bit<32> one;
    bit<32> other;
}

#define EGRESS_READS_IP
#include "common/egress.p4"

control Egress(EGRESS_PARAMETERS) {

    DualPi2() dualpi2;

    Random<bit<32>>() random_one;
    Random<bit<32>>() random_other;
    action draw_one() { md.one = random_one.get(); }
    action draw_other() { md.other = random_other.get(); }

    apply {
        md.signal = DUALPI2_NONE;
        if (hdr.ipv4.isValid()) {
            md.ecn = hdr.ipv4.ecn;
        } else if (hdr.ipv6.isValid()) {
            md.ecn = hdr.ipv6.ecn;
        } else {
            md.ecn = ECN_NOT_CAPABLE;
        }
        draw_one();
        draw_other();
        dualpi2.apply(hdr.bridge.kind, hdr.bridge.arrival, eg_prsr_md.global_tstamp, md.ecn, md.one,
                      md.other, md.signal, eg_intr_md, eg_dprsr_md);
        if (md.signal == DUALPI2_MARK) {
            if (hdr.ipv4.isValid()) {
                hdr.ipv4.ecn = ECN_CONGESTED;
            } else {
                hdr.ipv6.ecn = ECN_CONGESTED;
            }
        }
    }
}

control EgressDeparser(EGRESS_DEPARSER_PARAMETERS) {
    Checksum() ipv4_checksum;

    apply {
        if (hdr.ipv4.isValid()) {
            hdr.ipv4.header_checksum = ipv4_checksum.update(IPV4_CHECKSUM_FIELDS(hdr.ipv4));
        }
        // Without the bridge header: it ends here.
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ipv6);
    }
}

#include "common/switch.p4"
