// One count for each of several queues, that software can read. It wraps; nothing resets it but
// the reset, so that a reader can take differences.
module counter #(
    parameter int QUEUES      = 1,
    parameter int QUEUE_WIDTH = QUEUES > 1 ? $clog2(QUEUES) : 1
) (
    input  logic                   clk,
    input  logic                   rst,
    input  logic                   count,
    input  logic [QUEUE_WIDTH-1:0] queue_id,
    input  logic [QUEUE_WIDTH-1:0] read_id,
    output logic [           31:0] value
);
    logic [31:0] counted[0:QUEUES-1];
    logic [QUEUES-1:0] used;  // since reset: without, the count is 0

    assign value = used[read_id] ? counted[read_id] : 0;

    always_ff @(posedge clk) if (count) counted[queue_id] <= (used[queue_id] ? counted[queue_id] : 0) + 1;

    always_ff @(posedge clk)
        if (rst) used <= '0;
        else if (count) used[queue_id] <= 1'b1;

`ifdef FORMAL
`include "counter_properties.svh"
`endif
endmodule
