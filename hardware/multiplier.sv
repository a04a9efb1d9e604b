// A product of 17 bits by 17, with the registers that an FPGA's multiplier has in front and behind.
//
// A file of its own because yosys leaves those registers of an ECP5's multiplier unused: where the clock
// is estimated, ecp5/multiplier.sv stands here (synthesis.py).
module multiplier (
    input  logic        clk,
    input  logic [16:0] a,
    input  logic [16:0] b,
    output logic [33:0] product  // two cycles later
);
    logic [16:0] a_kept, b_kept;

    always_ff @(posedge clk) begin
        a_kept  <= a;
        b_kept  <= b;
        product <= a_kept * b_kept;
    end
endmodule
