// In place of control_law.sv when codel.sv is proven: as long on its way, and whatever it says.
module control_law #(
    parameter int TIME_WIDTH = 48
) (
    input  logic                  clk,
    input  logic                  rst,
    input  logic                  start,
    input  logic [          31:0] count,
    input  logic                  at_1,
    input  logic [          31:0] interval,
    input  logic [TIME_WIDTH-1:0] t,
    output logic                  done,
    output logic [TIME_WIDTH-1:0] drop_next
);
    logic [8:0] running;  // where the question is
    assign drop_next = $anyseq;
    always_ff @(posedge clk) running <= rst ? 9'd0 : {running[7:0], start};
    assign done = running[8];
endmodule
