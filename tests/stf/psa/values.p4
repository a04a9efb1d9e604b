// Hashes, checksums and random numbers of PSA over the nine bytes of `data`. `kind` chooses one.
header note_t { bit<72> data; bit<8> pad; bit<32> result; }
#include "frame.p4"

control In(inout headers_t h, inout meta_t m, in psa_ingress_input_metadata_t istd,
           inout psa_ingress_output_metadata_t ostd) {
    Hash<bit<32>>(PSA_HashAlgorithm_t.CRC32) crc32;
    Hash<bit<16>>(PSA_HashAlgorithm_t.CRC16) crc16;
    Hash<bit<16>>(PSA_HashAlgorithm_t.TARGET_DEFAULT) usual;
    Hash<bit<16>>(PSA_HashAlgorithm_t.ONES_COMPLEMENT16) sum;
    Checksum<bit<32>>(PSA_HashAlgorithm_t.CRC32) running;
    InternetChecksum() internet;
    Random<bit<32>>(6, 6) six;
    Random<bit<32>>(10, 13) few;

    apply {
        send_to_port(ostd, istd.ingress_port);
        bit<72> data = h.note.data;
        if (h.eth.kind == 1) {
            h.note.result = crc32.get_hash({ data });
        } else if (h.eth.kind == 2) {
            h.note.result = usual.get_hash({ data }) ++ crc16.get_hash({ data });
        } else if (h.eth.kind == 3) {
            h.note.result = crc32.get_hash(32w100, { data }, 32w16);
        } else if (h.eth.kind == 4) {
            running.update({ data[71:40] });
            running.update({ data[39:0] });
            h.note.result = running.get();
        } else if (h.eth.kind == 5) {
            running.update({ data });
            running.clear();
            running.update({ data });
            h.note.result = running.get();
        } else if (h.eth.kind == 6) {
            internet.add({ data[71:8] });
            bit<16> first = internet.get();
            bit<16> state = internet.get_state();
            internet.clear();
            internet.set_state(state);
            internet.subtract({ data[71:56] });
            h.note.result = first ++ internet.get();
        } else if (h.eth.kind == 7) {
            bit<32> drawn = few.read();
            h.note.result = drawn >= 10 && drawn <= 13 ? six.read() : 0;
        } else if (h.eth.kind == 8) {
            h.note.result = 16w0 ++ sum.get_hash({ data[71:8] });
        }
    }
}

IngressPipeline(InParser(), In(), InDeparser()) ip;
EgressPipeline(OutParser(), OutControl(), OutDeparser()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
