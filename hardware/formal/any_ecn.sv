// In place of ecn.sv when queue.sv is proven: words of any width, and whatever it says of a frame. A
// marked frame's first word has its lowest bit turned, so that a mark at the wrong word is seen.
module ecn_field #(
    parameter int DATA_WIDTH = 256
) (
    input  logic [DATA_WIDTH-1:0] word,
    output logic [           4:0] found
);
    assign found = word[4:0];
endmodule

module ecn_mark #(
    parameter int DATA_WIDTH = 256
) (
    input  logic                  clk,
    input  logic                  advance,
    input  logic                  first,
    input  logic                  enable,
    input  logic [           4:0] found,
    input  logic [DATA_WIDTH-1:0] word,
    output logic [DATA_WIDTH-1:0] marked
);
    assign marked = word ^ DATA_WIDTH'(first && enable);
endmodule
