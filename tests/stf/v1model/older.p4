// What programs from before version 20200408 of v1model.p4 write: copies that name their fields in
// place, indices of 32 bits, mark_to_drop without an argument.
#include <core.p4>
#include <v1model.p4>

header frame_h {
    bit<8>  kind;
    bit<16> key;
    bit<8>  note;
}

struct headers_t { frame_h frame; }
struct metadata_t {
    bit<8> kept;
    bit<8> also;
    bit<8> lost;
}

parser TestParser(packet_in packet, out headers_t hdr, inout metadata_t md,
                  inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.frame);
        transition accept;
    }
}

control NoVerify(inout headers_t hdr, inout metadata_t md) { apply {} }
control NoUpdate(inout headers_t hdr, inout metadata_t md) { apply {} }

control TestIngress(inout headers_t hdr, inout metadata_t md,
                    inout standard_metadata_t standard_metadata) {
    register<bit<8>>(16) seen;
    counter(16, CounterType.packets) traffic;
    meter(4, MeterType.packets) rate;

    apply {
        standard_metadata.egress_spec = 9;
        if (standard_metadata.instance_type == 6) {
            hdr.frame.note = md.kept + md.also + md.lost;
        } else if (standard_metadata.instance_type == 4) {
            hdr.frame.note = hdr.frame.note + md.kept + md.lost;
        } else {
            md.kept = 0x10;
            md.also = 0x20;
            md.lost = 0x07;
            if (hdr.frame.kind == 1) {
                clone3(CloneType.I2E, 5, { md.kept });
                hdr.frame.note = 0x11;
            } else if (hdr.frame.kind == 3) {
                resubmit({ md.kept, md.also });
            } else if (hdr.frame.kind == 4) {
                resubmit(md);
            } else if (hdr.frame.kind == 6) {
                mark_to_drop();
            } else if (hdr.frame.kind == 7) {
                bit<32> index = (bit<32>)hdr.frame.key;
                bit<8> value;
                bit<2> color;
                seen.read(value, index);
                seen.write(index, value + 1);
                traffic.count(index);
                rate.execute_meter(index, color);
                hdr.frame.note = value + ((bit<8>)color << 6);
            } else if (hdr.frame.kind == 8) {
                // From ingress too: it happens behind egress.
                recirculate({ md.kept });
                hdr.frame.kind = 0;
            }
        }
    }
}

control TestEgress(inout headers_t hdr, inout metadata_t md,
                   inout standard_metadata_t standard_metadata) {
    apply {
        if (standard_metadata.instance_type == 1) {
            hdr.frame.note = hdr.frame.note + 0x80 + md.kept + md.also + md.lost;
        } else if (standard_metadata.instance_type == 2) {
            hdr.frame.note = 0xc0 + md.kept + md.also + md.lost;
        } else if (hdr.frame.kind == 2) {
            clone3(CloneType.E2E, 6, { md.also, md.kept });
            hdr.frame.key = 0x3333;
        } else if (hdr.frame.kind == 5) {
            hdr.frame.kind = 0;
            hdr.frame.note = 0x40;
            recirculate({ md.kept });
        }
    }
}

control TestDeparser(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.frame); } }

V1Switch(TestParser(), NoVerify(), TestIngress(), TestEgress(), NoUpdate(), TestDeparser()) main;
