// The chip that a program of this folder is compiled for, and what differs between chips for them.
//
// The programs of p4/t2na are these with Tofino 2's declarations included first.
#ifndef COMMON_CHIP_P4
#define COMMON_CHIP_P4

#if __TARGET_TOFINO__ == 2
#include <t2na.p4>

// egress_qid counts the 128 queues of a port group, which has 8 ports: 64 groups.
#define QUEUE_STATES            8192
#define QUEUE_NUMBER_FIELDS(md) { 3w0, md.egress_port[8:3], md.egress_qid }
// Bytes of a cell of the packet buffer, and cells of a full frame: 1514 bytes, 4 of the check
// sequence, 9 of the bridge header.
#define CELL_BYTES              176
#define GENERATOR_PORT          6       // of pipe 0
#define FULL_FRAME_CELLS        9
#else
#include <tna.p4>

// egress_qid counts the 32 queues of a port; there are 512 ports.
#define QUEUE_STATES            16384
#define QUEUE_NUMBER_FIELDS(md) { 2w0, md.egress_port, md.egress_qid }
#define CELL_BYTES              80
#define GENERATOR_PORT          68      // of pipe 0
#define FULL_FRAME_CELLS        20
#endif

#endif
