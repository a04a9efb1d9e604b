// A router with RFC 8289's CoDel (aqm/codel_exact.p4) in egress: 1 stage of ingress, 10 of egress.
//
//   common/l3_ingress.p4 -> queue -> bridge header off -> CodelExact -> port
//                                                           |
//   egress of port 68: synchronisation header off -> CodelExact <-- mirror session 100
//
// A synchronisation packet is a cut copy of a packet that was dropped (or marked). It comes through
// the traffic manager into egress again, writes the registers and is dropped.
//
// With CODEL_ECN defined, packets of ECN-capable transports are marked instead of dropped (RFC
// 3168; RFC 8289 leaves the choice open), and egress reads and writes their IP headers.
//
// Control plane: codel_exact.toml has the routes, the mirror session and the control law. The
// egress port needs a shaper if it is to be slower than its line.
#include <core.p4>
#include "common/chip.p4"
#include "common/l3_ingress.p4"
#include "aqm/codel_exact.p4"

struct egress_metadata_t {
    codel_exact_t codel;
    bit<2>        ecn;
}

#define SYNCHRONISATION_HEADER codel_exact_h
#ifdef CODEL_ECN
#define EGRESS_READS_IP
#endif
#include "common/egress.p4"

control Egress(EGRESS_PARAMETERS) {

    CodelExact() codel;

    apply {
        md.ecn = ECN_NOT_CAPABLE;
#ifdef CODEL_ECN
        if (hdr.ipv4.isValid()) {
            md.ecn = hdr.ipv4.ecn;
        } else if (hdr.ipv6.isValid()) {
            md.ecn = hdr.ipv6.ecn;
        }
#endif
        codel.apply(hdr.sync, md.codel, hdr.bridge.arrival, hdr.bridge.arrival_epoch,
                    eg_prsr_md.global_tstamp, md.ecn, eg_intr_md, eg_dprsr_md);
#ifdef CODEL_ECN
        if (md.codel.mark == 1) {
            if (hdr.ipv4.isValid()) {
                hdr.ipv4.ecn = ECN_CONGESTED;
            } else {
                hdr.ipv6.ecn = ECN_CONGESTED;
            }
        }
#endif
    }
}

control EgressDeparser(EGRESS_DEPARSER_PARAMETERS) {
    Mirror(CODEL_EXACT_MIRROR) synchronise;
#ifdef CODEL_ECN
    Checksum() ipv4_checksum;
#endif

    apply {
        if (eg_dprsr_md.mirror_type == CODEL_EXACT_MIRROR) {
            synchronise.emit<codel_exact_h>(md.codel.session, {
                md.codel.kind, md.codel.queue, md.codel.correction, md.codel.added });
        }
#ifdef CODEL_ECN
        if (hdr.ipv4.isValid()) {
            hdr.ipv4.header_checksum = ipv4_checksum.update(IPV4_CHECKSUM_FIELDS(hdr.ipv4));
        }
#endif
        // Without the bridge header: it ends here.
        packet.emit(hdr.ethernet);
#ifdef CODEL_ECN
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ipv6);
#endif
    }
}

#include "common/switch.p4"
