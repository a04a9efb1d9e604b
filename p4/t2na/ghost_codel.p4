// A router with RFC 8289's CoDel before the queue, for Tofino 2: the ghost thread knows the depths.
//
//   traffic manager -> Ghost -> [queue_depth]
//                                    |
//   common/ghost_depth.p4 -> delay to come -> CodelExact -> queue -> port
//                                                 |
//   ingress again <- resubmitted, with what is to be put right
//
// The law is ../tna/aqm/codel_exact.p4 with the sojourn time that a packet is going to have and the
// time of its departure. In a queue that is sent at a constant rate, first in first out, a packet's
// departure is known when it arrives: it waits for those in front that are kept. So the law decides
// about each packet as it would at the head of the queue, but a dropped packet never joins it and
// takes no slot of the wire.
//
// Where it leaves RFC 8289, beside the remarks of codel_exact.p4
//  * A depth is a number of cells, and the delay that belongs to it an average (ghost_depth.p4).
//  * "No more than one packet in the queue" is a depth of no more than one full frame.
//  * A depth is older than the packet by the delay of the report.
//  * Packets are dropped, not marked.
//
// Control plane: ghost_codel.toml. Stages: 14 of ingress, none of egress.
#include <core.p4>
#define CODEL_EXACT_BEFORE_QUEUE
#define SYNCHRONISATION_HEADER codel_exact_h
#include <t2na.p4>
#include "../tna/common/headers.p4"
#include "../tna/aqm/codel_exact.p4"

struct ingress_metadata_t {
    codel_exact_t codel;
    bit<32> arrival;                    // ns, global_tstamp[31:0]
    bit<32> arrival_epoch;              // 65.536 us, global_tstamp[47:16]
}

#include "common/ghost_depth.p4"

control Ingress(GHOST_INGRESS_PARAMETERS) {

    RouteAndDelay() route;
    CodelExact() codel;
    bit<32> depth;
    bit<32> delay = 0;

    // The two cuts of the clock overlap, and a field can be cut in one way only: the hash unit makes
    // the second.
    Hash<bit<32>>(HashAlgorithm_t.IDENTITY) epoch;
    action note_arrival() { md.arrival = ig_prsr_md.global_tstamp[31:0]; }
    action note_epoch() { md.arrival_epoch = epoch.get(ig_prsr_md.global_tstamp[47:16]); }

    apply {
        if (!hdr.sync.isValid()) {
            note_arrival();
            note_epoch();
            route.apply(hdr, ig_dprsr_md, ig_tm_md, md.codel.queue, depth, delay);
        }
        codel.apply(hdr.sync, md.codel, md.arrival, md.arrival_epoch, delay, ig_dprsr_md);
    }
}

control IngressDeparser(
        packet_out packet,
        inout ghost_headers_t hdr,
        in ingress_metadata_t md,
        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Checksum() ipv4_checksum;
    Resubmit() resubmit;

    apply {
        if (ig_dprsr_md.resubmit_type == CODEL_EXACT_RESUBMIT) {
            resubmit.emit<codel_exact_h>({
                md.codel.kind, md.codel.queue, md.codel.correction, md.codel.added });
        }
        if (hdr.ipv4.isValid()) {
            hdr.ipv4.header_checksum = ipv4_checksum.update(IPV4_CHECKSUM_FIELDS(hdr.ipv4));
        }
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ipv6);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser(), Ghost()) pipe;

Switch(pipe) main;
