// Types, constants and enumerations; the widths are those of the chip's own file (chip.p4).
#ifndef SOJOURN_TOFINO1_TYPES_P4
#define SOJOURN_TOFINO1_TYPES_P4

// ---- Identifiers --------------------------------------------------------------------------

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
// A mirror session; 0 is reserved.
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
