// CoDel as RFC 8289 writes it, section 5.5, line by line: what one would like to write, and no
// pipeline can run. `sojourn check --dependencies` shows why.
//
//   dodequeue   sojourn time -> first_above_time -> ok_to_drop
//   dequeue     ok_to_drop   -> dropping         -> drop now?  drop_next, count, lastcount
//
// Two things are different from the RFC's listing, because a program in a switch sees one packet
// at a time. The `while` of dequeue(), which looks at the next packet at once, is that packet's own
// pass here. And state is kept for each egress port, so every access has an index.
//
// Names are the RFC's. Times are ns modulo 2^32, compared by the sign of their difference.
#include <core.p4>
#include <tna.p4>
#include "../tna/common/ingress.p4"

#define TARGET      5000000             // ns, section 4.3
#define INTERVAL    100000000           // ns, section 4.4
#define MAXPACKET   19                  // cells of 80 bytes: one packet of 1514 bytes

// INTERVAL / sqrt(count). No chip computes it like this.
extern bit<32> interval_by_sqrt(in bit<32> count);

control CodelRfc8289(
        in bit<32> now,
        in bit<32> arrival,
        in bit<19> backlog,             // cells in the queue behind this packet
        in PortId_t port,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {

    // The state of the RFC's class codel_queue_t.
    Register<bit<32>, PortId_t>(512) first_above_time;
    Register<bit<32>, PortId_t>(512) drop_next;
    Register<bit<32>, PortId_t>(512) count;
    Register<bit<32>, PortId_t>(512) lastcount;
    Register<bit<1>,  PortId_t>(512) dropping;

    action drop() {
        eg_dprsr_md.drop_ctl = 1;
    }

    apply {
        bool ok_to_drop = false;

        // dodequeue()
        bit<32> sojourn_time = now - arrival;
        if (sojourn_time < TARGET || backlog <= MAXPACKET) {
            first_above_time.write(port, 0);
        } else {
            bit<32> above_since = first_above_time.read(port);
            if (above_since == 0) {
                first_above_time.write(port, now + INTERVAL);
            } else if ((int<32>)(now - above_since) >= 0) {
                ok_to_drop = true;
            }
        }

        // dequeue()
        if (dropping.read(port) == 1) {
            if (!ok_to_drop) {
                dropping.write(port, 0);
            } else if ((int<32>)(now - drop_next.read(port)) >= 0) {
                drop();
                count.write(port, count.read(port) + 1);
                drop_next.write(port, drop_next.read(port) + interval_by_sqrt(count.read(port)));
            }
        } else if (ok_to_drop) {
            drop();
            dropping.write(port, 1);
            bit<32> delta = count.read(port) - lastcount.read(port);
            if (delta > 1 && now - drop_next.read(port) < 16 * INTERVAL) {
                count.write(port, delta);
            } else {
                count.write(port, 1);
            }
            drop_next.write(port, now + interval_by_sqrt(count.read(port)));
            lastcount.write(port, count.read(port));
        }
    }
}

struct egress_headers_t {
    bridge_h   bridge;
    ethernet_h ethernet;
}

struct egress_metadata_t {}

parser EgressParser(
        packet_in packet,
        out egress_headers_t hdr,
        out egress_metadata_t md,
        out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        packet.extract(eg_intr_md);
        packet.extract(hdr.bridge);
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control Egress(
        inout egress_headers_t hdr,
        inout egress_metadata_t md,
        in egress_intrinsic_metadata_t eg_intr_md,
        in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
        inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {

    CodelRfc8289() codel;

    apply {
        codel.apply(eg_prsr_md.global_tstamp[31:0], hdr.bridge.arrival[31:0],
                    eg_intr_md.deq_qdepth, eg_intr_md.egress_port, eg_dprsr_md);
    }
}

control EgressDeparser(
        packet_out packet,
        inout egress_headers_t hdr,
        in egress_metadata_t md,
        in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
        packet.emit(hdr.ethernet);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser()) pipe;

Switch(pipe) main;
