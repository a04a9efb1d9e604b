// Routes by longest prefix, with IPv4's checksum: what each router of this folder has.
//
// A program defines `struct headers_t` with ethernet, ipv4 and ipv4_options, and `struct metadata_t`,
// before it includes this file.
//
// What has no route, no time to live left, a wrong header or checksum, or is not IPv4, is dropped.
#ifndef COMMON_ROUTES_P4
#define COMMON_ROUTES_P4

#include "checksum.p4"

control Router(inout headers_t hdr, inout standard_metadata_t standard_metadata) {

    action drop() {
        mark_to_drop(standard_metadata);
    }

    // To the next hop: the router's address and the next one's on that link.
    action send(bit<9> port, bit<48> own, bit<48> next_hop) {
        standard_metadata.egress_spec = port;
        hdr.ethernet.source = own;
        hdr.ethernet.destination = next_hop;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }

    // Filled by the control plane.
    table routes {
        key = { hdr.ipv4.destination : lpm; }
        actions = { send; drop; }
        default_action = drop();
        size = 1024;
    }

    apply {
        if (hdr.ipv4.isValid() && hdr.ipv4.ttl > 1
                && standard_metadata.parser_error == error.NoError
                && standard_metadata.checksum_error == 0) {
            routes.apply();
        } else {
            drop();
        }
    }
}

#endif
