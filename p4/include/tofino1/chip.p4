// Widths of Tofino 1 and what only this chip declares. A width has a macro of its own because
// programs build other types from it.
#ifndef SOJOURN_TOFINO1_CHIP_P4
#define SOJOURN_TOFINO1_CHIP_P4

#define PORT_ID_WIDTH             9
#define QUEUE_ID_WIDTH            5
#define MULTICAST_GROUP_ID_WIDTH  16
#define REPLICATION_ID_WIDTH      16
#define L1_EXCLUSION_ID_WIDTH     16
#define L2_EXCLUSION_ID_WIDTH     9
#define MIRROR_ID_WIDTH           10    // 0 is reserved, 1..1015 are free, the rest coalesces copies
#define MIRROR_TYPE_WIDTH         3
#define RESUBMIT_TYPE_WIDTH       3
#define DIGEST_TYPE_WIDTH         3

// Bits between the intrinsic metadata and the first byte of the packet in the ingress parser:
// the port's own metadata, or the data of a resubmit.
@noWarn("unused")
const bit<32> PORT_METADATA_SIZE = 32w64;

// A bit of `parser_err`: too many containers written at once.
@noWarn("unused")
const bit<16> PARSER_ERROR_DST_CONT = 0x0040;

// dst = low bits of (src1 ++ src2) >> shift_amount
extern void funnel_shift_right<T>(inout T dst, in T src1, in T src2, int shift_amount);

#endif
