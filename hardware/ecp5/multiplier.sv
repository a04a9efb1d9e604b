// hardware/multiplier.sv as an ECP5 has it: one MULT18X18D with its registers in use.
module multiplier (
    input  logic        clk,
    input  logic [16:0] a,
    input  logic [16:0] b,
    output logic [33:0] product
);
    MULT18X18D #(
        .REG_INPUTA_CLK("CLK0"), .REG_INPUTB_CLK("CLK0"), .REG_OUTPUT_CLK("CLK0")
    ) multiplier (
        .CLK0(clk), .CE0(1'b1), .RST0(1'b0), .SIGNEDA(1'b0), .SIGNEDB(1'b0),
        .A0(a[0]), .A1(a[1]), .A2(a[2]), .A3(a[3]), .A4(a[4]), .A5(a[5]), .A6(a[6]), .A7(a[7]), .A8(a[8]),
        .A9(a[9]), .A10(a[10]), .A11(a[11]), .A12(a[12]), .A13(a[13]), .A14(a[14]), .A15(a[15]), .A16(a[16]), .A17(1'b0),
        .B0(b[0]), .B1(b[1]), .B2(b[2]), .B3(b[3]), .B4(b[4]), .B5(b[5]), .B6(b[6]), .B7(b[7]), .B8(b[8]),
        .B9(b[9]), .B10(b[10]), .B11(b[11]), .B12(b[12]), .B13(b[13]), .B14(b[14]), .B15(b[15]), .B16(b[16]), .B17(1'b0),
        .P0(product[0]), .P1(product[1]), .P2(product[2]), .P3(product[3]), .P4(product[4]), .P5(product[5]), .P6(product[6]), .P7(product[7]), .P8(product[8]),
        .P9(product[9]), .P10(product[10]), .P11(product[11]), .P12(product[12]), .P13(product[13]), .P14(product[14]), .P15(product[15]), .P16(product[16]), .P17(product[17]),
        .P18(product[18]), .P19(product[19]), .P20(product[20]), .P21(product[21]), .P22(product[22]), .P23(product[23]), .P24(product[24]), .P25(product[25]), .P26(product[26]),
        .P27(product[27]), .P28(product[28]), .P29(product[29]), .P30(product[30]), .P31(product[31]), .P32(product[32]), .P33(product[33])
    );
endmodule
