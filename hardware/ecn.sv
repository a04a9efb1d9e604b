// The ECN field (RFC 3168) of frames on an AXI-Stream of 256 bits or more.
//
// `ecn_field` finds it in a frame's first word; `ecn_mark` sets Congestion Experienced on the way
// out and mends an IPv4 header's checksum (RFC 1624). Both know Ethernet with at most two VLAN tags.
// They must not know why a packet is marked. Byte 0 of a frame is the lowest of its first word.
//
// What was found goes with the packet, in five bits: {tags, IPv6, field}. No IP is field 0, which is
// also that of a transport that does not know ECN (Not-ECT).

// The ECN field and where it is: combinational, from the first word.
module ecn_field #(
    parameter int DATA_WIDTH = 256
) (
    input  logic [DATA_WIDTH-1:0] word,
    output logic [           4:0] found
);
    // Behind no, one and two tags: the type, whether it is a tag itself, and if it is IP the field, which
    // is in the header's second byte: IPv4 has it in the lowest bits, IPv6 in bits 5 and 4.
    logic [2:0] is_tag, ipv4, ipv6;
    logic [5:0] field;

    genvar t;
    generate
        for (t = 0; t < 3; t = t + 1) begin : behind
            logic [15:0] ethertype;
            logic [7:0] second;
            assign ethertype     = {word[8*(12+4*t)+:8], word[8*(13+4*t)+:8]};
            assign second        = word[8*(15+4*t)+:8];
            assign is_tag[t]     = ethertype == 16'h8100 || ethertype == 16'h88a8;
            assign ipv4[t]       = ethertype == 16'h0800;
            assign ipv6[t]       = ethertype == 16'h86dd;
            assign field[2*t+:2] = ({2{ipv4[t]}} & second[1:0]) | ({2{ipv6[t]}} & second[5:4]);
        end
    endgenerate

    always_comb begin
        found = {2'd0, ipv6[0], field[1:0]};
        if (is_tag[0]) found = {2'd1, ipv6[1], field[3:2]};
        if (is_tag[0] && is_tag[1]) found = {2'd2, ipv6[2], field[5:4]};
    end
endmodule

// One word of a frame on its way out. With two tags an IPv4 checksum begins the second word of a
// 256-bit stream, so what has to be added is kept until the word behind.
module ecn_mark #(
    parameter int DATA_WIDTH = 256
) (
    input  logic                  clk,
    input  logic                  advance,  // `word` is taken at this edge
    input  logic                  first,    // it is its frame's first
    input  logic                  enable,   // the frame is to be marked
    input  logic [           4:0] found,    // its ECN field
    input  logic [DATA_WIDTH-1:0] word,
    output logic [DATA_WIDTH-1:0] marked
);
    localparam bit SPLIT = DATA_WIDTH < 8 * 34;  // the checksum behind two tags is in the second word

    logic [1:0] tags, field, added;
    logic ipv6, now;
    assign {tags, ipv6, field} = found;
    assign now   = first && enable;
    assign added = 2'd3 - field;  // what the mark adds to the header's sum

    // RFC 1624, equation 3, HC' = ~(~HC + ~m + m'), where ~m + m' is `added`: in ones' complement
    // HC less `added`, and one less if that borrows.
    function automatic logic [15:0] mended(input logic [15:0] checksum, input logic [1:0] more);
        logic borrows;
        borrows = checksum[15:2] == 0 && checksum[1:0] < more;
        mended  = checksum - 16'({1'b0, more} + {2'b0, borrows});
    endfunction

    logic [1:0] left_over;
    always_ff @(posedge clk)
        if (advance) left_over <= SPLIT && now && !ipv6 && tags == 2 ? added : 2'd0;

    // Three places where a header can begin. Each is changed by what is due there, which is nothing
    // in all but one: so nothing is shifted.
    integer t;
    logic here;
    always_comb begin
        marked = word;
        here   = 1'b0;
        for (t = 0; t < 3; t = t + 1) begin
            here = now && tags == 2'(t);
            if (here && !ipv6) marked[8*(15+4*t)+:2] = 2'b11;
            if (here && ipv6) marked[8*(15+4*t)+4+:2] = 2'b11;
            if (8 * (26 + 4 * t) <= DATA_WIDTH)
                {marked[8*(24+4*t)+:8], marked[8*(25+4*t)+:8]} = mended(
                    {word[8*(24+4*t)+:8], word[8*(25+4*t)+:8]}, here && !ipv6 ? added : 2'd0
                );
        end
        if (SPLIT && !first)
            {marked[7:0], marked[15:8]} = mended({word[7:0], word[15:8]}, left_over);
    end
endmodule
