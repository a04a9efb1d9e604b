// The ways of a packet through a PSA switch, each with the metadata that its deparser sends along.
// `kind` chooses the way; the note shows the path in both passes, and the metadata that came along.
#include <core.p4>
#include <psa.p4>

header eth_t { bit<48> dst; bit<48> src; bit<16> kind; }
header note_t { bit<8> path_in; bit<8> path_out; bit<16> along; bit<32> port; bit<16> instance; bit<8> cos; }
struct headers_t { eth_t eth; note_t note; }
struct along_t { bit<16> value; }
struct meta_t { bit<16> value; }

// Members of PSA_PacketPath_t in the order of their declaration.
bit<8> number(in PSA_PacketPath_t path) {
    if (path == PSA_PacketPath_t.NORMAL) { return 0; }
    if (path == PSA_PacketPath_t.NORMAL_UNICAST) { return 1; }
    if (path == PSA_PacketPath_t.NORMAL_MULTICAST) { return 2; }
    if (path == PSA_PacketPath_t.CLONE_I2E) { return 3; }
    if (path == PSA_PacketPath_t.CLONE_E2E) { return 4; }
    if (path == PSA_PacketPath_t.RESUBMIT) { return 5; }
    return 6;
}

parser InParser(packet_in p, out headers_t h, inout meta_t m,
                in psa_ingress_parser_input_metadata_t istd, in along_t resubmit_meta,
                in along_t recirculate_meta) {
    state start {
        p.extract(h.eth);
        p.extract(h.note);
        m.value = resubmit_meta.value + recirculate_meta.value;
        transition accept;
    }
}

control In(inout headers_t h, inout meta_t m, in psa_ingress_input_metadata_t istd,
           inout psa_ingress_output_metadata_t ostd) {
    apply {
        h.note.path_in = number(istd.packet_path);
        h.note.port = (PortIdUint_t) istd.ingress_port;
        h.eth.src = 0xaaaa;                 // a clone of the packet as received does not show it
        ostd.class_of_service = (ClassOfService_t) h.eth.src[7:0];
        if (istd.packet_path == PSA_PacketPath_t.RESUBMIT) {
            h.note.along = m.value;
            send_to_port(ostd, (PortId_t) 3);
        } else if (istd.packet_path == PSA_PacketPath_t.RECIRCULATE) {
            h.note.along = m.value;
            send_to_port(ostd, (PortId_t) 4);
        } else if (h.eth.kind == 1) {
            send_to_port(ostd, (PortId_t) (bit<32>) h.eth.dst[31:0]);
        } else if (h.eth.kind == 2) {
            ostd.clone = true;
            ostd.clone_session_id = (CloneSessionId_t) 5;
        } else if (h.eth.kind == 3) {
            ostd.drop = false;
            ostd.resubmit = true;
        } else if (h.eth.kind == 4) {
            send_to_port(ostd, PSA_PORT_RECIRCULATE);
        } else if (h.eth.kind == 5) {
            multicast(ostd, (MulticastGroup_t) (bit<32>) h.eth.dst[31:0]);
        } else if (h.eth.kind == 6) {
            send_to_port(ostd, (PortId_t) 2);
        }
    }
}

control InDeparser(packet_out p, out along_t clone_i2e_meta, out along_t resubmit_meta,
                   out along_t normal_meta, inout headers_t h, in meta_t m,
                   in psa_ingress_output_metadata_t istd) {
    apply {
        if (psa_clone_i2e(istd)) { clone_i2e_meta.value = 0x1111; }
        if (psa_resubmit(istd)) { resubmit_meta.value = 0x2222; }
        if (psa_normal(istd)) { normal_meta.value = 0x3333; }
        p.emit(h.eth);
        p.emit(h.note);
    }
}

parser OutParser(packet_in p, out headers_t h, inout meta_t m,
                 in psa_egress_parser_input_metadata_t istd, in along_t normal_meta,
                 in along_t clone_i2e_meta, in along_t clone_e2e_meta) {
    state start {
        p.extract(h.eth);
        p.extract(h.note);
        m.value = normal_meta.value + clone_i2e_meta.value + clone_e2e_meta.value;
        transition accept;
    }
}

control Out(inout headers_t h, inout meta_t m, in psa_egress_input_metadata_t istd,
            inout psa_egress_output_metadata_t ostd) {
    apply {
        h.note.path_out = number(istd.packet_path);
        h.note.instance = (EgressInstanceUint_t) istd.instance;
        h.note.cos = (ClassOfServiceUint_t) istd.class_of_service;
        if (h.note.path_in == 0 && h.eth.kind != 4) {
            h.note.along = m.value;
        }
        if (h.eth.kind == 6 && istd.packet_path == PSA_PacketPath_t.NORMAL_UNICAST) {
            ostd.clone = true;
            ostd.clone_session_id = (CloneSessionId_t) 6;
            ostd.drop = h.eth.dst[0:0] == 1;
        }
    }
}

control OutDeparser(packet_out p, out along_t clone_e2e_meta, out along_t recirculate_meta,
                    inout headers_t h, in meta_t m, in psa_egress_output_metadata_t istd,
                    in psa_egress_deparser_input_metadata_t edstd) {
    apply {
        if (psa_clone_e2e(istd)) { clone_e2e_meta.value = 0x4444; }
        if (psa_recirculate(istd, edstd)) { recirculate_meta.value = 0x5555; }
        p.emit(h.eth);
        p.emit(h.note);
    }
}

IngressPipeline(InParser(), In(), InDeparser()) ip;
EgressPipeline(OutParser(), Out(), OutDeparser()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
