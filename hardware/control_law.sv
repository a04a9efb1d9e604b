// RFC 8289's control law, t + INTERVAL / sqrt(count), in nanoseconds.
//
// A ROM and a shift instead of a square root and a division. Write count = j * 4^k with j of ten
// bits, 256 to 1023; then
//
//     INTERVAL / sqrt(count) = INTERVAL * (16 / sqrt(j)) / 2^(k + 4)
//
// and 16 / sqrt(j) lies between 1/2 and 1: 768 numbers of 34 bits, one block RAM.
//
//  - count up to 1023: j is exact (k may be negative) and the ROM is off by at most 2^-34, so the
//    result is off by at most 1/2 + INTERVAL * 2^-34 < 3/4 ns: the nearest nanosecond or its neighbour.
//  - count above: j leaves out the low bits of count, and the result is up to 0.2 % too long
//    (1 / 512, the step between two j at the ROM's beginning): drops come a little late.
//
// tests/test_hardware.py proves both from the ROM's entries. A count of 0 is taken as 1.
//
// Nine cycles from `start` to `done`. `count` is wanted with `start` and in the cycle behind it, `t` with
// `done`.
module control_law #(
    parameter int TIME_WIDTH = 48
) (
    input  logic                  clk,
    input  logic                  rst,
    input  logic                  start,
    input  logic [          31:0] count,
    input  logic                  at_1,      // count is 1, whatever `count` says: wanted two cycles behind `start`
    input  logic [          31:0] interval,  // ns
    input  logic [TIME_WIDTH-1:0] t,
    output logic                  done,
    output logic [TIME_WIDTH-1:0] drop_next  // t + INTERVAL / sqrt(count)
);
    // The ROM: round(2^34 * 16 / sqrt(j)), the largest r with (2 r - 1)^2 * j <= (2^39)^2, found
    // bit by bit. j = 256 would be 2^34, which has no room: 2^34 - 1.
    logic [33:0] rom[0:1023];

    function automatic logic [33:0] inverse_square_root(input logic [81:0] j);
        logic [33:0] r;
        logic [81:0] odd;
        integer b;
        r = 0;
        for (b = 33; b >= 0; b = b - 1) begin
            odd = 2 * ({48'd0, r} | (82'd1 << b)) - 1;
            if (odd * odd * j <= (82'd1 << 78)) r = r | (34'd1 << b);
        end
        inverse_square_root = r;
    endfunction

    integer entry;
    initial begin
        for (entry = 0; entry < 256; entry = entry + 1) rom[entry] = 0;
        for (entry = 256; entry < 1024; entry = entry + 1) begin
            rom[entry] = inverse_square_root(82'(entry));
        end
    end

    // 1. and 2. How many pairs of bits are zero before the first that is not; count shifted by them: j,
    // and k + 4.
    logic [3:0] pairs, pairs_1;
    logic [31:0] shifted;
    logic [9:0] j;
    logic [3:0] shift_2;

    integer p;
    always_comb begin
        pairs = 15;
        for (p = 0; p < 16; p = p + 1) if (count[2*p+:2] != 0) pairs = 4'(15 - p);
    end
    assign shifted = (count == 0 ? 32'd1 : count) << {pairs_1, 1'b0};

    always_ff @(posedge clk) begin
        pairs_1 <= pairs;
        j       <= shifted[31:22];
        shift_2 <= 4'd15 - pairs_1;
    end

    // 3. and 4. The ROM, and the register that block RAM has behind it.
    logic [33:0] entry_read, y;
    logic [3:0] shift_3, shift_4;

    always_ff @(posedge clk) begin
        entry_read <= rom[at_1 ? 10'd256 : j];
        shift_3    <= at_1 ? 4'd0 : shift_2;
        y          <= entry_read;
        shift_4    <= shift_3;
    end

    // 5. and 6. INTERVAL * y in four parts of 17 bits by 17, which a multiplier of any FPGA takes.
    logic [33:0] low, across, up, high;
    logic [3:0] shift_5, shift_6;

    multiplier low_low (.clk, .a(interval[16:0]), .b(y[16:0]), .product(low));
    multiplier low_high (.clk, .a(interval[16:0]), .b(y[33:17]), .product(across));
    multiplier high_low (.clk, .a({2'b0, interval[31:17]}), .b(y[16:0]), .product(up));
    multiplier high_high (.clk, .a({2'b0, interval[31:17]}), .b(y[33:17]), .product(high));

    always_ff @(posedge clk) begin
        shift_5 <= shift_4;
        shift_6 <= shift_5;
    end

    // 7. and 8. Their sum; of `low` only what is carried counts: 2^17 is the unit.
    logic [34:0] middle;
    logic [48:0] outer, sum;
    logic [3:0] shift_7, shift_8;

    always_ff @(posedge clk) begin
        middle  <= {1'b0, across} + {1'b0, up};
        outer   <= {high[31:0], low[33:17]};
        shift_7 <= shift_6;
        sum     <= outer + {14'd0, middle};
        shift_8 <= shift_7;
    end

    // 9. Twice the result, cut off: shifted by fours, then by ones. Then halves are rounded up: the last
    // bit is carried into the sum.
    logic [32:0] coarse, doubled;
    logic [TIME_WIDTH:0] rounded;

    assign coarse = sum[48:16] >> {shift_8[3:2], 2'b00};
    always_ff @(posedge clk) doubled <= coarse >> shift_8[1:0];

    assign rounded   = {{(TIME_WIDTH - 32) {1'b0}}, doubled} + {t, 1'b1};
    assign drop_next = rounded[TIME_WIDTH:1];

    // Where the questions are.
    logic [8:0] stage;
    always_ff @(posedge clk) stage <= rst ? 9'd0 : {stage[7:0], start};
    assign done = stage[8];
endmodule
