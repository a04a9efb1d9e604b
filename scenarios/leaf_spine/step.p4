// A router that marks packets which met a queue of K packets or more: the switch of DCTCP (RFC 8257).
//
//   common/router.p4 -> queue -> ECN field -> port
//
// Control plane: routes.toml gives each switch of a network its own routes.
#include <core.p4>
#include <v1model.p4>

struct metadata_t {}

#include "common/router.p4"

#ifndef K
#define K   65                          // packets: what the paper takes at 10 Gbit/s (Alizadeh et al., 2010)
#endif

const bit<2> NOT_ECT = 0;
const bit<2> CE = 3;

control SwitchIngress(
        inout headers_t hdr,
        inout metadata_t md,
        inout standard_metadata_t standard_metadata) {
    apply {
        Router.apply(hdr, standard_metadata);
    }
}

control SwitchEgress(
        inout headers_t hdr,
        inout metadata_t md,
        inout standard_metadata_t standard_metadata) {
    apply {
        if (hdr.ipv4.ecn != NOT_ECT && standard_metadata.enq_qdepth >= K) {
            hdr.ipv4.ecn = CE;
        }
    }
}

V1Switch(RouterParser(), RouterVerify(), SwitchIngress(), SwitchEgress(), RouterUpdate(),
         RouterDeparser()) main;
