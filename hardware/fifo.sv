// A queue of few things: what is put in first is there first. Registers, no memory: the first one is seen at once.
module fifo #(
    parameter int WIDTH = 8,
    parameter int DEPTH = 4  // a power of two, 2 or more
) (
    input logic clk,
    input logic rst,

    input  logic             put,    // not if it is full
    input  logic [WIDTH-1:0] last,
    input  logic             take,   // not if it is empty
    output logic [WIDTH-1:0] first,
    output logic             empty,
    output logic             full
);
    localparam int PLACE = $clog2(DEPTH);

    logic [WIDTH-1:0] kept[0:DEPTH-1];
    logic [PLACE:0] in, out;  // one bit more than a place: full is not empty

    always_ff @(posedge clk) if (put) kept[in[PLACE-1:0]] <= last;
    assign first = kept[out[PLACE-1:0]];
    assign empty = in == out;
    assign full  = in == (out ^ (PLACE + 1)'(DEPTH));

    always_ff @(posedge clk)
        if (rst) begin
            in  <= '0;
            out <= '0;
        end else begin
            in  <= in + (PLACE + 1)'(put);
            out <= out + (PLACE + 1)'(take);
        end

`ifdef FORMAL
`include "fifo_properties.svh"
`endif
endmodule
