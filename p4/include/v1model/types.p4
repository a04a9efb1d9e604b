// Match kinds and enumerations of v1model.
#ifndef SOJOURN_V1MODEL_TYPES_P4
#define SOJOURN_V1MODEL_TYPES_P4

const bit<32> __v1model_version = V1MODEL_VERSION;

#if V1MODEL_VERSION >= 20200408
typedef bit<9> PortId_t;
#define V1MODEL_PORT PortId_t
#else
#define V1MODEL_PORT bit<9>
#endif

// What selects the queue: bit<3>, and so 8 queues, in p4c's own file. `simple_switch` takes any width
// that the file has, and runs with up to 32 queues a port; a program that defines this wants p4c's
// file to be changed in the same way.
#ifndef V1MODEL_PRIORITY
#define V1MODEL_PRIORITY bit<3>
#endif

match_kind {
    range,      // Between two values, both included.
    optional,   // A value, or anything.
    selector    // Takes no part in matching: the hash of these keys chooses a member of a group.
}

enum CounterType {
    packets,
    bytes,
    packets_and_bytes
}

enum MeterType {
    packets,
    bytes
}

// What execute_meter and read put out.
#define V1MODEL_METER_COLOR_GREEN  0
#define V1MODEL_METER_COLOR_YELLOW 1
#define V1MODEL_METER_COLOR_RED    2

enum HashAlgorithm {
    crc32,          // CRC-32/ISO-HDLC, as Ethernet's
    crc32_custom,
    crc16,          // CRC-16/ARC
    crc16_custom,
    random,
    identity,       // the first eight bytes
    csum16,         // the Internet checksum
    xor16           // all 16-bit words XORed
}

enum CloneType {
    I2E,            // from the end of ingress to egress
    E2E             // from the end of egress to egress once more
}

#endif
