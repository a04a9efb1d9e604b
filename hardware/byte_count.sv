// How many bytes of an AXI-Stream's word are there, when they are there from the lowest.
//
// That is n or more if byte n - 1 is there, and bit b of a number is 1 in every second run of 2^b numbers. So
// each bit is told by a few pairs of bytes of which the lower one is there and the upper one is not, and none
// waits for another. Of bytes with holes the number is wrong, but from 1 to BYTES.
module byte_count #(
    parameter int BYTES = 32,  // a power of two
    parameter int WIDTH = $clog2(BYTES) + 1
) (
    input  logic [BYTES-1:0] keep,
    output logic [WIDTH-1:0] number
);
    integer b, n;
    always_comb begin
        number = '0;
        for (b = 0; b < WIDTH - 1; b = b + 1)
            for (n = 1 << b; n < BYTES; n = n + (2 << b)) if (keep[n-1] && !keep[n+(1<<b)-1]) number[b] = 1'b1;
        if (keep[BYTES-1]) number = WIDTH'(BYTES);
    end

`ifdef FORMAL
`include "byte_count_properties.svh"
`endif
endmodule
