// Counts that software can read: for each of several queues, one of each of KINDS kinds of events. They
// wrap; nothing resets them but the reset, so that a reader can take differences. After it they are cleared,
// one a cycle: nothing may be counted while `clearing`, and what is read until then may be a count of before.
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
    output logic [           31:0] value,
    output logic                   clearing
);
    localparam int NUMBER = $clog2(QUEUES * KINDS);

    logic [31:0] counted[0:QUEUES*KINDS-1];

    logic [NUMBER-1:0] cleared, number, read_number;
    assign number      = clearing ? cleared : NUMBER'({queue_id, kind});
    assign read_number = NUMBER'({read_id, read_kind});

    assign value = counted[read_number];

    always_ff @(posedge clk)
        if (clearing || count) counted[number] <= (clearing ? 0 : counted[number]) + 32'(!clearing);

    always_ff @(posedge clk)
        if (rst) begin
            clearing <= 1'b1;
            cleared  <= '0;
        end else if (clearing) begin
            cleared  <= cleared + 1;
            clearing <= cleared != NUMBER'(QUEUES * KINDS - 1);
        end

`ifdef FORMAL
`include "counter_properties.svh"
`endif
endmodule
