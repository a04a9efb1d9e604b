// The ECN field (RFC 3168) of frames on an AXI-Stream of 256 bits or more.
//
// `ecn_capable` reads it from a frame's first word; `ecn_mark` sets Congestion Experienced on the way
// out and mends an IPv4 header's checksum (RFC 1624). Both know Ethernet with at most two VLAN tags.
// They must not know why a packet is marked. Byte 0 of a frame is the lowest of its first word.

// Where the IP header is: combinational, from the first word.
module ip_header #(
    parameter int DATA_WIDTH = 256
) (
    input  logic [DATA_WIDTH-1:0] word,
    output logic [1:0]            tags,  // VLAN tags in front of it: 0, 1 or 2
    output logic                  ipv4,
    output logic                  ipv6
);
    function automatic logic [15:0] type_at(input integer tags_before);
        type_at = {word[8*(12+4*tags_before)+:8], word[8*(13+4*tags_before)+:8]};
    endfunction

    function automatic logic is_tag(input logic [15:0] ethertype);
        is_tag = ethertype == 16'h8100 || ethertype == 16'h88a8;
    endfunction

    logic [15:0] ethertype;
    always_comb begin
        tags = 0;
        if (is_tag(type_at(0))) tags = is_tag(type_at(1)) ? 2 : 1;
        case (tags)
            0:       ethertype = type_at(0);
            1:       ethertype = type_at(1);
            default: ethertype = type_at(2);
        endcase
        ipv4 = ethertype == 16'h0800;
        ipv6 = ethertype == 16'h86dd;
    end
endmodule

// Whether a frame's transport is capable of ECN.
module ecn_capable #(
    parameter int DATA_WIDTH = 256
) (
    input  logic [DATA_WIDTH-1:0] word,
    output logic                  capable
);
    logic [1:0] tags;
    logic ipv4, ipv6;
    ip_header #(.DATA_WIDTH(DATA_WIDTH)) ip_header (.word, .tags, .ipv4, .ipv6);

    // The second byte of the header: IPv4 has the field in its lowest bits, IPv6 in bits 5 and 4.
    logic [7:0] second;
    assign second  = word[8*(15+4*tags)+:8];
    assign capable = (ipv4 && second[1:0] != 0) || (ipv6 && second[5:4] != 0);
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
    input  logic [DATA_WIDTH-1:0] word,
    output logic [DATA_WIDTH-1:0] marked
);
    localparam bit SPLIT = DATA_WIDTH < 8 * 34;  // the checksum behind two tags is in the second word

    logic [1:0] tags;
    logic ipv4, ipv6;
    ip_header #(.DATA_WIDTH(DATA_WIDTH)) ip_header (.word, .tags, .ipv4, .ipv6);

    // RFC 1624, equation 3, HC' = ~(~HC + ~m + m'): m' - m is 3 less the field, so with
    // `added` = m' - m the sum ~m + m' is `added` in ones' complement.
    logic [7:0] second;
    logic [1:0] added;
    assign second = word[8*(15+4*tags)+:8];
    assign added  = 2'd3 - second[1:0];

    function automatic logic [15:0] mended(input logic [15:0] checksum, input logic [1:0] more);
        logic [16:0] sum;
        sum = {1'b0, ~checksum} + 17'(more);
        mended = ~(sum[15:0] + 16'(sum[16]));
    endfunction

    logic [1:0] left_over;
    always_ff @(posedge clk)
        if (advance) left_over <= SPLIT && first && enable && ipv4 && tags == 2 ? added : 2'd0;

    integer at;
    always_comb begin
        marked = word;
        at = 0;
        if (first && enable) begin
            // Three places where a header can begin: constants, so that nothing is shifted.
            for (at = 14; at <= 22; at = at + 4)
                if (at == 14 + 4 * 32'(tags)) begin
                    if (ipv4) marked[8*(at+1)+:2] = 2'b11;
                    if (ipv6) marked[8*(at+1)+4+:2] = 2'b11;
                    if (ipv4 && 8 * (at + 12) <= DATA_WIDTH)
                        {marked[8*(at+10)+:8], marked[8*(at+11)+:8]} =
                            mended({word[8*(at+10)+:8], word[8*(at+11)+:8]}, added);
                end
        end else if (SPLIT && !first && left_over != 0) begin
            {marked[7:0], marked[15:8]} = mended({word[7:0], word[15:8]}, left_over);
        end
    end
endmodule
