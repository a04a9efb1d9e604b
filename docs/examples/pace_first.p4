#include <core.p4>
#include <tna.p4>
#include "common/ingress.p4"

#define LIMIT 20000000          // ns

struct egress_metadata_t {}

#include "common/egress.p4"

control Egress(EGRESS_PARAMETERS) {
    bit<32> delay;              // ns in the queue
    bit<32> left;               // ns up to LIMIT; 0: nothing

    action drop_packet() {
        eg_dprsr_md.drop_ctl = 1;
    }

    apply {
        delay = eg_prsr_md.global_tstamp[31:0] - hdr.bridge.arrival[31:0];
        left = LIMIT |-| delay;
        if (left == 0) {
            drop_packet();
        }
    }
}

control EgressDeparser(EGRESS_DEPARSER_PARAMETERS) {
    apply {
        packet.emit(hdr.ethernet);
    }
}

#include "common/switch.p4"
