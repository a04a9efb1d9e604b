// Types, constants and enumerations of Tofino 1. A width has a macro of its own because programs
// build other types from it.
#ifndef SOJOURN_TOFINO1_TYPES_P4
#define SOJOURN_TOFINO1_TYPES_P4

// ---- Identifiers --------------------------------------------------------------------------

#define PORT_ID_WIDTH             9
#define QUEUE_ID_WIDTH            5
#define MULTICAST_GROUP_ID_WIDTH  16
#define REPLICATION_ID_WIDTH      16
#define L1_EXCLUSION_ID_WIDTH     16
#define L2_EXCLUSION_ID_WIDTH     9
#define MIRROR_ID_WIDTH           10
#define MIRROR_TYPE_WIDTH         3
#define RESUBMIT_TYPE_WIDTH       3
#define DIGEST_TYPE_WIDTH         3

// A device port: two bits of pipe, seven bits of port inside the pipe.
@noWarn("unused")
typedef bit<PORT_ID_WIDTH> PortId_t;
// A queue as a program sees it: relative to its port.
@noWarn("unused")
typedef bit<QUEUE_ID_WIDTH> QueueId_t;
@noWarn("unused")
typedef bit<MULTICAST_GROUP_ID_WIDTH> MulticastGroupId_t;
@noWarn("unused")
typedef bit<REPLICATION_ID_WIDTH> ReplicationId_t;
@noWarn("unused")
typedef bit<L1_EXCLUSION_ID_WIDTH> L1ExclusionId_t;
@noWarn("unused")
typedef bit<L2_EXCLUSION_ID_WIDTH> L2ExclusionId_t;
// A mirror session; 0 is reserved, 1..1015 are free, the rest coalesces copies.
@noWarn("unused")
typedef bit<MIRROR_ID_WIDTH> MirrorId_t;
// Which of a deparser's Mirror, Resubmit or Digest statements runs.
@noWarn("unused")
typedef bit<MIRROR_TYPE_WIDTH> MirrorType_t;
@noWarn("unused")
typedef bit<RESUBMIT_TYPE_WIDTH> ResubmitType_t;
@noWarn("unused")
typedef bit<DIGEST_TYPE_WIDTH> DigestType_t;

@noWarn("unused")
typedef error ParserError_t;

// Bits between the intrinsic metadata and the first byte of the packet in the ingress parser:
// the port's own metadata, or the data of a resubmit.
@noWarn("unused")
const bit<32> PORT_METADATA_SIZE = 32w64;

// The two parts of a device port, as mask and as slice.
#define DEVPORT_PIPE_MASK   0x180
#define DEVPORT_PORT_MASK   0x7f
#define DEVPORT_PIPE(port)  (port)[8:7]
#define DEVPORT_PORT(port)  (port)[6:0]

// ---- Parser errors ------------------------------------------------------------------------

// Bits of `parser_err` in the metadata from the parser; several may be set at once.
@noWarn("unused")
const bit<16> PARSER_ERROR_OK           = 0x0000;
@noWarn("unused")
const bit<16> PARSER_ERROR_NO_MATCH     = 0x0001;  // no case of a select matched
@noWarn("unused")
const bit<16> PARSER_ERROR_PARTIAL_HDR  = 0x0002;  // the packet ended inside a header
@noWarn("unused")
const bit<16> PARSER_ERROR_CTR_RANGE    = 0x0004;  // parser counter loaded beyond its maximum
@noWarn("unused")
const bit<16> PARSER_ERROR_TIMEOUT_USER = 0x0008;
@noWarn("unused")
const bit<16> PARSER_ERROR_TIMEOUT_HW   = 0x0010;
@noWarn("unused")
const bit<16> PARSER_ERROR_SRC_EXT      = 0x0020;  // read outside the input buffer
@noWarn("unused")
const bit<16> PARSER_ERROR_DST_CONT     = 0x0040;  // too many containers written at once
@noWarn("unused")
const bit<16> PARSER_ERROR_PHV_OWNER    = 0x0080;  // container of the other gress written
@noWarn("unused")
const bit<16> PARSER_ERROR_MULTIWRITE   = 0x0100;  // container written twice
@noWarn("unused")
const bit<16> PARSER_ERROR_ARAM_MBE     = 0x0400;  // memory error
@noWarn("unused")
const bit<16> PARSER_ERROR_FCS          = 0x0800;  // frame check sequence wrong

// What core.p4 does not know of the same matter.
error {
    CounterRange,
    Timeout,
    PhvOwner,
    MultiWrite,
    IbufOverflow,
    IbufUnderflow
}

// ---- Matching -----------------------------------------------------------------------------

match_kind {
    range,                  // low .. high, at most 20 bits of key
    selector,               // feeds the hash of an ActionSelector, takes no part in the match
    atcam_partition_index   // chooses the partition of an algorithmic TCAM
}

// ---- Enumerations -------------------------------------------------------------------------

enum CounterType_t { PACKETS, BYTES, PACKETS_AND_BYTES }

enum MeterType_t { PACKETS, BYTES }

// Two bits in the chip; yellow has two encodings and this is the first of them.
enum bit<8> MeterColor_t { GREEN = 0, YELLOW = 1, RED = 3 }

// What happens to a group's other flows when a member leaves: all are spread anew, or none moves.
enum SelectorMode_t { FAIR, RESILIENT }

enum HashAlgorithm_t {
    IDENTITY, RANDOM,
    XOR8, XOR16, XOR32,
    CRC8, CRC16, CRC32, CRC64,
    CUSTOM                  // by a CRCPolynomial
}

// f(x) of a MathUnit. In the first constructor form: (invert, shift).
enum MathOp_t {
    MUL,     // x             (false,  0)
    SQR,     // x * x         (false,  1)
    SQRT,    // sqrt(x)       (false, -1)
    DIV,     // 1 / x         (true,   0)
    RSQR,    // 1 / (x * x)   (true,   1)
    RSQRT    // 1 / sqrt(x)   (true,  -1)
}

#endif
