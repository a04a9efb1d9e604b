// Registers, counters, meters and tables of PSA. `kind` chooses the operation, `index` the cell.
header note_t { bit<8> index; bit<8> value; bit<32> result; }
#include "frame.p4"

bit<32> color(in PSA_MeterColor_t c) {
    if (c == PSA_MeterColor_t.RED) { return 0; }
    if (c == PSA_MeterColor_t.GREEN) { return 1; }
    return 2;
}

control In(inout headers_t h, inout meta_t m, in psa_ingress_input_metadata_t istd,
           inout psa_ingress_output_metadata_t ostd) {
    Register<bit<32>, bit<8>>(4, 7) cells;
    Register<int<16>, bit<8>>(2, -2) signs;
    Counter<bit<32>, bit<8>>(2, PSA_CounterType_t.BYTES) counted;
    DirectCounter<bit<32>>(PSA_CounterType_t.PACKETS) hits;
    Meter<bit<8>>(2, PSA_MeterType_t.PACKETS) meter;
    DirectMeter(PSA_MeterType_t.PACKETS) entries;
    ActionSelector(PSA_HashAlgorithm_t.CRC16, 8, 16) members;

    action hit() {
        hits.count();
        h.note.result = color(entries.execute());
    }
    action miss() { h.note.result = 0xff; }
    table direct {
        key = { h.note.index : exact; }
        actions = { hit; miss; }
        psa_direct_counter = hits;
        psa_direct_meter = entries;
        default_action = miss();
    }
    action choose(bit<32> value) { h.note.result = value; }
    table chosen {
        key = { h.note.index : exact; h.note.value : selector; }
        actions = { choose; }
        psa_implementation = members;
    }

    apply {
        send_to_port(ostd, istd.ingress_port);
        if (h.eth.kind == 1) {
            h.note.result = cells.read(h.note.index);
            cells.write(h.note.index, (bit<32>) h.note.value);
        } else if (h.eth.kind == 2) {
            h.note.result = (bit<32>) (int<32>) signs.read(h.note.index);
            signs.write(h.note.index, (int<16>) (bit<16>) h.note.value);
        } else if (h.eth.kind == 3) {
            counted.count(h.note.index);
        } else if (h.eth.kind == 4) {
            h.note.result = color(meter.execute(h.note.index));
        } else if (h.eth.kind == 5) {
            h.note.result = color(meter.execute(h.note.index, PSA_MeterColor_t.YELLOW));
        } else if (h.eth.kind == 6) {
            direct.apply();
        } else if (h.eth.kind == 7) {
            chosen.apply();
        }
    }
}

IngressPipeline(InParser(), In(), InDeparser()) ip;
EgressPipeline(OutParser(), OutControl(), OutDeparser()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
