// Widths of Tofino 2 and what only this chip declares. A width has a macro of its own because
// programs build other types from it.
#ifndef SOJOURN_TOFINO2_CHIP_P4
#define SOJOURN_TOFINO2_CHIP_P4

#define PORT_ID_WIDTH             9
#define QUEUE_ID_WIDTH            7
#define MULTICAST_GROUP_ID_WIDTH  16
#define REPLICATION_ID_WIDTH      16
#define L1_EXCLUSION_ID_WIDTH     16
#define L2_EXCLUSION_ID_WIDTH     9
#define MIRROR_ID_WIDTH           8
#define MIRROR_TYPE_WIDTH         4
#define RESUBMIT_TYPE_WIDTH       3
#define DIGEST_TYPE_WIDTH         3

// Bits between the intrinsic metadata and the first byte of the packet in the ingress parser: 16
// bytes of the port's own metadata or of a resubmit, and 8 bytes of padding.
@noWarn("unused")
const bit<32> PORT_METADATA_SIZE = 32w192;

// A bit of `parser_err`: memory error of a checksum unit.
@noWarn("unused")
const bit<16> PARSER_ERROR_CSUM_MBE = 0x1000;

match_kind {
    dleft_hash              // a key that stateful ALUs match
}

// dst = low bits of (src1 ++ src2) >> shift_amount
extern void funnel_shift_right<T>(out T dst, in T src1, in T src2, int shift_amount);

#endif
