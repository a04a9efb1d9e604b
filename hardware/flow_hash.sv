// Which flow a frame belongs to, as a number: a hash of addresses, protocol and ports (RFC 8290 section 4.1).
//
// Of each word of the header those bytes count that say the flow, and the others are made 0. Nothing is shifted: all
// frames of a flow have their headers in the same place. To each 16 bits of what is left a key is added, they are
// multiplied in pairs, and all products are added: NH, the hash of UMAC (RFC 4418 section 5.2), here with keys that
// come from one seed, so it is no defence against who knows that.
//
// IPv4 and IPv6 behind at most two VLAN tags. Ports are those of TCP, UDP, DCCP, SCTP and UDP-Lite; they do not
// count in IPv4 fragments, of which only the first has them, nor behind IPv4 options or IPv6 extensions. A frame
// that is no IP is known by its Ethernet addresses and its type. It must not know what a flow is for.
//
// The hash is there six cycles behind a frame's last word, for one cycle if words go on coming.
module flow_hash #(
    parameter int DATA_WIDTH = 256
) (
    input  logic                    clk,
    input  logic [            31:0] seed,
    input  logic                    valid,
    input  logic                    first,  // it is its frame's first word
    input  logic [  DATA_WIDTH-1:0] word,   // byte 0 is the lowest
    input  logic [DATA_WIDTH/8-1:0] keep,   // which bytes are there
    output logic [            31:0] hash
);
    localparam int BYTES = DATA_WIDTH / 8;
    localparam int WORDS = (66 + BYTES - 1) / BYTES;  // that can have ports: two tags, IPv6
    localparam int ETHERNET = 14;                     // bytes of its header without tags

    // ---- 1. The first word says what kind of frame it is. ----
    logic [2:0] is_tag, ipv4, ipv6, ports;  // behind no, one and two tags
    genvar t;
    generate
        for (t = 0; t < 3; t = t + 1) begin : behind
            localparam int AT = ETHERNET + 4 * t;  // of the IP header
            logic [15:0] ethertype;
            logic [7:0] protocol;
            logic whole;  // no fragment, no options
            assign ethertype = {word[8*(AT-2)+:8], word[8*(AT-1)+:8]};
            assign is_tag[t] = ethertype == 16'h8100 || ethertype == 16'h88a8;
            assign ipv4[t]   = ethertype == 16'h0800;
            assign ipv6[t]   = ethertype == 16'h86dd;
            assign protocol  = ipv4[t] ? word[8*(AT+9)+:8] : word[8*(AT+6)+:8];
            assign whole     = ipv6[t] || (word[8*AT+:4] == 5 && word[8*(AT+6)+:6] == 0 && word[8*(AT+7)+:8] == 0);
            assign ports[t]  = whole && (protocol == 6 || protocol == 17 || protocol == 33 || protocol == 132 || protocol == 136);
        end
    endgenerate

    logic [1:0] tags, number, new_tags;
    logic is_ipv4, is_ipv6, has_ports;
    logic valid_1;
    logic [DATA_WIDTH-1:0] word_1;
    assign new_tags = !is_tag[0] ? 2'd0 : !is_tag[1] ? 2'd1 : 2'd2;

    integer b;
    always_ff @(posedge clk) begin
        valid_1 <= valid;
        for (b = 0; b < BYTES; b = b + 1) word_1[8*b+:8] <= keep[b] ? word[8*b+:8] : 8'd0;
        if (valid) begin
            number <= first ? 2'd0 : number == 2'd3 ? 2'd3 : number + 2'd1;
            if (first) begin
                tags      <= new_tags;
                is_ipv4   <= ipv4[new_tags];
                is_ipv6   <= ipv6[new_tags];
                has_ports <= ports[new_tags];
            end
        end
    end

    // ---- 2. The bytes that count, of each word for each number of tags. A word without any is left out. ----
    logic [BYTES-1:0] counts;
    integer n, tag_count, i, at;
    always_comb begin
        counts = '0;
        for (n = 0; n < WORDS; n = n + 1)
            for (tag_count = 0; tag_count < 3; tag_count = tag_count + 1)
                for (i = 0; i < BYTES; i = i + 1) begin
                    at = BYTES * n + i - ETHERNET - 4 * tag_count;  // in the IP header
                    if (number == 2'(n) && tags == 2'(tag_count)) begin
                        if (is_ipv4) counts[i] = at == 9 || (at >= 12 && at < 20) || (has_ports && at >= 20 && at < 24);
                        else if (is_ipv6) counts[i] = at == 6 || (at >= 8 && at < 40) || (has_ports && at >= 40 && at < 44);
                        else counts[i] = BYTES * n + i < 12 || at == -2 || at == -1;  // the type, behind the tags
                    end
                end
    end

    localparam int LANES = DATA_WIDTH / 16;
    logic valid_2, first_2;
    logic [1:0] number_2;
    logic [DATA_WIDTH-1:0] word_2;

    integer f;
    always_ff @(posedge clk) begin
        valid_2  <= valid_1 && counts != 0;  // so that a frame's length does not count
        first_2  <= number == 0;
        number_2 <= number;
        for (f = 0; f < BYTES; f = f + 1) word_2[8*f+:8] <= counts[f] ? word_1[8*f+:8] : 8'd0;
    end

    // ---- 3. and 4. Keys added, and multiplied. A key is digits of a multiple of the golden ratio, and half the seed.
    //      Each word has keys of its own. ----
    localparam logic [31:0] GOLDEN = 32'h9e37_79b9;

    function automatic logic [16:0] with_key(input logic [15:0] lane, input logic [15:0] digits, input logic [15:0] half);
        with_key = {1'b0, lane} + {1'b0, digits ^ half};
    endfunction

    logic [33:0] products[0:LANES/2-1];
    genvar p;
    generate
        for (p = 0; p < LANES / 2; p = p + 1) begin : pair
            localparam logic [31:0] FIRST = (p + 1) * GOLDEN;
            localparam logic [31:0] SECOND = (p + 1 + LANES) * GOLDEN;
            localparam logic [31:0] THIRD = (p + 1 + 2 * LANES) * GOLDEN;
            logic [31:0] digits;
            logic [16:0] one, other;
            assign digits = number_2 == 0 ? FIRST : number_2 == 1 ? SECOND : THIRD;
            assign one    = with_key(word_2[32*p+:16], digits[15:0], seed[15:0]);
            assign other  = with_key(word_2[32*p+16+:16], digits[31:16], seed[31:16]);
            multiplier multiplier (.clk, .a(one), .b(other), .product(products[p]));
        end
    endgenerate

    // ---- 5. and 6. Their sum. Its middle bits hang on most of the others: they go to the hash's lowest place. ----
    logic valid_3, valid_4, valid_5, first_3, first_4, first_5;
    logic [31:0] left_half, right_half, sum, left_sum, right_sum;
    integer q;
    always_comb begin
        left_half  = '0;
        right_half = '0;
        for (q = 0; q < LANES / 4; q = q + 1) begin
            left_half  = left_half + 32'(products[q]);
            right_half = right_half + 32'(products[q+LANES/4]);
        end
    end

    always_ff @(posedge clk) begin
        {valid_5, valid_4, valid_3} <= {valid_4, valid_3, valid_2};
        {first_5, first_4, first_3} <= {first_4, first_3, first_2};
        left_sum  <= left_half;
        right_sum <= right_half;
        if (valid_5) sum <= (first_5 ? 32'd0 : sum) + left_sum + right_sum;
    end
    assign hash = {sum[15:0], sum[31:16]};
endmodule
