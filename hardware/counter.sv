// Counts that software can read: for each of several queues, one of each of KINDS kinds of events. They
// wrap; nothing resets them but the reset, so that a reader can take differences.
module counter #(
    parameter int QUEUES      = 1,
    parameter int KINDS       = 4,  // a power of two
    parameter int QUEUE_WIDTH = QUEUES > 1 ? $clog2(QUEUES) : 1,
    parameter int KIND_WIDTH  = $clog2(KINDS)
) (
    input  logic                   clk,
    input  logic                   rst,
    input  logic                   count,
    input  logic [QUEUE_WIDTH-1:0] queue_id,
    input  logic [ KIND_WIDTH-1:0] kind,
    input  logic [QUEUE_WIDTH-1:0] read_id,
    input  logic [ KIND_WIDTH-1:0] read_kind,
    output logic [           31:0] value
);
    localparam int NUMBER = $clog2(QUEUES * KINDS);

    logic [31:0] counted[0:QUEUES*KINDS-1];
    logic [QUEUES*KINDS-1:0] used;  // since reset: without, the count is 0

    logic [NUMBER-1:0] number, read_number;
    assign number      = NUMBER'({queue_id, kind});
    assign read_number = NUMBER'({read_id, read_kind});

    assign value = used[read_number] ? counted[read_number] : 0;

    always_ff @(posedge clk) if (count) counted[number] <= (used[number] ? counted[number] : 0) + 1;

    always_ff @(posedge clk)
        if (rst) used <= '0;
        else if (count) used[number] <= 1'b1;

`ifdef FORMAL
`include "counter_properties.svh"
`endif
endmodule
