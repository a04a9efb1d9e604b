// State that outlives a packet: registers, counters, counters and meters of table entries.
#define WITH_METADATA
struct metadata_t { bit<2> color; }
#include "frame.p4"

control TestIngress(inout headers_t hdr, inout metadata_t md,
                inout standard_metadata_t standard_metadata) {
    register<bit<8>, bit<8>>(16) seen;
    counter<bit<8>>(16, CounterType.packets_and_bytes) traffic;
    meter<bit<8>>(4, MeterType.packets) rate;
    direct_counter(CounterType.packets_and_bytes) hits;
    direct_meter<bit<2>>(MeterType.packets) limit;

    action hit() { limit.read(md.color); }

    table known {
        key = { hdr.frame.key : exact; }
        actions = { hit; NoAction; }
        default_action = NoAction();
        counters = hits;
        meters = limit;
    }

    apply {
        standard_metadata.egress_spec = 9;
        if (hdr.frame.kind < 16) {
            bit<8> value;
            seen.read(value, hdr.frame.kind);
            seen.write(hdr.frame.kind, value + 1);
            traffic.count(hdr.frame.kind);
            hdr.frame.note = value;
        } else if (hdr.frame.kind == 0x20) {
            bit<2> color;
            rate.execute_meter(hdr.frame.key[7:0], color);
            hdr.frame.note = (bit<8>)color;
        } else {
            md.color = 3;
            known.apply();
            hdr.frame.note = (bit<8>)md.color;
        }
    }
}

V1Switch(FrameParser(), NoVerify(), TestIngress(), NoEgress(), NoUpdate(), FrameDeparser()) main;
