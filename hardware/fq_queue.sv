// The packets of FQ-CoDel: whole ones in, those that it chooses out, in cells that any of them can have.
//
// A packet's number is that of its first cell (cells.sv). When its last word is in, its flow is known
// (flow_hash.sv) and it waits to be put; what is chosen is read from cell to cell; what is dropped is never read: its
// cells are free again three cycles later. It must not know which packet is chosen, nor why one is dropped.
//
//     in ──▶ write ──▶ cells ────────────────────────────────────▶ read ──▶ mark ──▶ out
//              └─▶ hash ──▶ come ──▶ put ─▶ (fq_codel.sv) ─▶ ask ──▶ granted ┘
//                                     shed ─┘        └─▶ drop ──▶ cells
//
// It is asked which packet is next when at most LEAD words of those before are still to be read. Room is wanted when
// fewer than ROOM cells are free: the longest frame, and what comes while the fattest flow pays. A frame that finds
// no cell all the same is forgotten (a tail drop), and so is one that comes while WAITING others wait to be put.
module fq_queue #(
    parameter int DATA_WIDTH  = 256,
    parameter int CELLS       = 2048,  // words of memory; a power of two
    parameter int ROOM        = 320,   // cells: 9,000 bytes are 282
    parameter int LEAD        = 16,
    parameter int WAITING     = 32,    // a power of two
    parameter int TIME_WIDTH  = 48,
    parameter int CELL        = $clog2(CELLS)
) (
    input logic clk,
    input logic rst,
    input logic [TIME_WIDTH-1:0] now,
    input logic [31:0] seed,  // of the hash

    // Packets that come. Always ready, but for CELLS cycles after a reset.
    input  logic [  DATA_WIDTH-1:0] s_axis_tdata,
    input  logic [DATA_WIDTH/8-1:0] s_axis_tkeep,  // all ones but in the last word, there from the lowest
    input  logic                    s_axis_tlast,
    input  logic                    s_axis_tvalid,
    output logic                    s_axis_tready,

    // FQ-CoDel (fq_codel.sv)
    output logic            put,
    output logic            ask,
    output logic            shed,
    input  logic            ready,
    output logic [CELL-1:0] arriving,
    output logic [    31:0] hash,
    output logic [    15:0] length,
    output logic            capable,
    input  logic            answer,
    input  logic [CELL-1:0] leaving,
    input  logic            drop,
    input  logic            mark,

    // Packets that leave: `tuser` is when they were enqueued
    output logic [  DATA_WIDTH-1:0] m_axis_tdata,
    output logic [DATA_WIDTH/8-1:0] m_axis_tkeep,
    output logic                    m_axis_tlast,
    output logic                    m_axis_tvalid,
    output logic [  TIME_WIDTH-1:0] m_axis_tuser,
    input  logic                    m_axis_tready,

    // What happened in this cycle, to be counted
    output logic was_queued,
    output logic was_refused,  // no cell, or too many wait
    output logic was_sent,
    output logic was_dropped,  // by CoDel
    output logic was_marked,
    output logic was_shed      // for room
);
    localparam int BYTES = DATA_WIDTH / 8;
    localparam int BYTES_WIDTH = $clog2(BYTES);
    localparam int COUNT = CELL + 1;  // bits that count cells

    typedef logic [CELL-1:0] cell_t;
    typedef logic [COUNT-1:0] count_t;

    // What is kept of a packet, besides its first cell.
    typedef struct packed {
        cell_t last;
        count_t words;
        logic [BYTES_WIDTH-1:0] last_bytes;  // in the last word; 0 is all
        logic [4:0] ecn;
    } packet_t;
    localparam int PACKET = CELL + COUNT + BYTES_WIDTH + 5;

    logic [DATA_WIDTH-1:0] memory[0:CELLS-1];

    // ---- In: a word that comes is a cycle in registers, then it goes into the free cell that is next. ----
    logic coming, in_last;
    logic [DATA_WIDTH-1:0] in_word;
    logic [BYTES-1:0] in_keep;
    logic [BYTES_WIDTH:0] bytes_in_word, in_bytes;

    byte_count #(.BYTES(BYTES)) byte_count (.keep(s_axis_tkeep), .number(bytes_in_word));

    always_ff @(posedge clk) begin
        coming   <= !rst && s_axis_tvalid && s_axis_tready;
        in_word  <= s_axis_tdata;
        in_keep  <= s_axis_tkeep;
        in_last  <= s_axis_tlast;
        in_bytes <= bytes_in_word;
    end

    cell_t here, first_cell, begin_at;
    count_t free, words_before;  // of the packet that is coming
    logic too_big, first_word, no_room, whole;
    logic [4:0] ecn_now, ecn_before, ecn_found;
    logic [COUNT+BYTES_WIDTH-1:0] bytes;
    logic [$clog2(WAITING):0] waiting;  // whole packets that are not put yet

    assign first_word = words_before == 0 && !too_big;
    assign begin_at   = first_word ? here : first_cell;
    assign ecn_found  = first_word ? ecn_now : ecn_before;
    assign bytes      = {words_before, {BYTES_WIDTH{1'b0}}} + (COUNT + BYTES_WIDTH)'(in_bytes);
    assign no_room    = too_big || free == 1 || 32'(bytes) >> 16 != 0 || (in_last && 32'(waiting) == WAITING);
    assign whole      = coming && in_last && !no_room;

    always_ff @(posedge clk) if (coming) memory[here] <= in_word;

    always_ff @(posedge clk)
        if (rst) begin
            words_before <= '0;
            too_big      <= 1'b0;
        end else if (coming) begin
            words_before <= in_last || no_room ? '0 : words_before + 1'b1;
            too_big      <= no_room && !in_last;
        end

    always_ff @(posedge clk)
        if (coming) begin
            first_cell <= begin_at;
            ecn_before <= ecn_found;
        end

    ecn_field #(.DATA_WIDTH(DATA_WIDTH)) ecn_field (.word(in_word), .found(ecn_now));

    assign was_queued  = whole;
    assign was_refused = coming && in_last && no_room;

    // ---- Come: what is known of it waits, and its hash behind that. ----
    localparam int HASHING = 6;  // cycles
    logic [HASHING-1:0] hashing;
    logic [31:0] hash_now;
    logic put_now, no_hash;
    packet_t packet_in, packet_put;

    always_ff @(posedge clk) hashing <= rst ? '0 : {hashing[HASHING-2:0], whole};

    always_ff @(posedge clk)
        if (rst) waiting <= '0;
        else waiting <= waiting + ($clog2(WAITING) + 1)'(whole) - ($clog2(WAITING) + 1)'(put_now);

    assign packet_in = {here, words_before + 1'b1, in_bytes[BYTES_WIDTH-1:0], ecn_found};

    flow_hash #(.DATA_WIDTH(DATA_WIDTH)) flow_hash (
        .clk, .seed, .valid(coming), .first(first_word), .word(in_word), .keep(in_keep), .hash(hash_now)
    );

    fifo #(.WIDTH(CELL + PACKET + 16), .DEPTH(WAITING)) come (
        .clk, .rst, .put(whole), .last({begin_at, packet_in, 16'(bytes)}), .take(put_now),
        .first({arriving, packet_put, length}), .empty(), .full()
    );
    fifo #(.WIDTH(32), .DEPTH(WAITING)) hashes (
        .clk, .rst, .put(hashing[HASHING-1]), .last(hash_now), .take(put_now), .first(hash), .empty(no_hash), .full()
    );

    assign capable = packet_put.ecn[1:0] != 0;

    // ---- Put, ask, shed: room first; the other two take turns. ----
    logic soon, wanted, wants_put, wants_ask, was_put, asked;
    count_t held;  // packets
    logic going, gone;  // a packet of which FQ-CoDel has spoken: its record is read, and is there,
    logic [1:0] freed;  // and if it was dropped, its cells are free, and that is known

    assign wants_put = !no_hash;
    assign wants_ask = soon && held != 0;
    assign shed      = wanted && held != 0 && !(going || gone || freed != 0);
    assign put       = wants_put && !shed && !(wants_ask && was_put);
    assign ask       = wants_ask && !shed && !put;
    assign put_now   = put && ready;

    always_ff @(posedge clk) begin
        wanted <= free < COUNT'(ROOM);
        freed  <= rst ? 2'b00 : {freed[0], gone};
    end

    always_ff @(posedge clk)
        if (rst) held <= '0;
        else held <= held + COUNT'(put_now) - COUNT'(answer);

    always_ff @(posedge clk)
        if (ready) begin
            was_put <= put;
            asked   <= ask;
        end

    // ---- What becomes of a packet: its record is read. ----
    logic [PACKET+TIME_WIDTH-1:0] records[0:CELLS-1];
    logic [PACKET+TIME_WIDTH-1:0] record_read;
    cell_t going_first, gone_first;
    logic going_drop, going_mark, gone_drop, gone_mark;
    packet_t gone_packet;
    logic [TIME_WIDTH-1:0] gone_enqueued;

    always_ff @(posedge clk) begin
        if (put_now) records[arriving] <= {packet_put, now};
        record_read <= records[leaving];
    end

    always_ff @(posedge clk) begin
        going       <= !rst && answer;
        going_first <= leaving;
        going_drop  <= drop;
        going_mark  <= mark;
        gone        <= !rst && going;
        gone_first  <= going_first;
        gone_drop   <= going_drop;
        gone_mark   <= going_mark;
        {gone_packet, gone_enqueued} <= record_read;
    end

    assign was_sent    = answer && !drop;
    assign was_marked  = answer && !drop && mark;
    assign was_dropped = answer && drop && asked;
    assign was_shed    = answer && drop && !asked;

    // ---- Granted: they will leave in this order. ----
    localparam int GRANT = CELL + PACKET + TIME_WIDTH + 1;
    logic grant, take, no_grant, grants_full;
    cell_t granted_first;
    packet_t granted;
    logic [TIME_WIDTH-1:0] granted_enqueued;
    logic granted_mark;

    assign grant = gone && !gone_drop;

    fifo #(.WIDTH(GRANT), .DEPTH(8)) grants (
        .clk, .rst, .put(grant), .last({gone_first, gone_packet, gone_enqueued, gone_mark}), .take,
        .first({granted_first, granted, granted_enqueued, granted_mark}), .empty(no_grant), .full(grants_full)
    );

    // ---- Out: a word a cycle whenever the next one's place is free. ----
    logic advance, reading, first, ends;
    cell_t at, reading_first;
    count_t left;  // words not yet read, this one included
    packet_t packet;
    logic [TIME_WIDTH-1:0] enqueued;
    logic packet_mark;

    assign advance = m_axis_tready || !m_axis_tvalid;
    assign ends    = reading && advance && left == 1;
    assign take    = !no_grant && (!reading || ends);

    logic [COUNT:0] ahead;  // words of the packets granted and read
    always_ff @(posedge clk)
        if (rst) ahead <= '0;
        else ahead <= ahead + (grant ? {1'b0, gone_packet.words} : '0) - (COUNT + 1)'(reading && advance);

    // Not while it is not known how long the last one is that was granted.
    assign soon = ahead <= (COUNT + 1)'(LEAD) && !grants_full && !(going || gone);

    always_ff @(posedge clk)
        if (rst) reading <= 1'b0;
        else if (take) reading <= 1'b1;
        else if (ends) reading <= 1'b0;

    always_ff @(posedge clk)
        if (take) begin
            first         <= 1'b1;
            left          <= granted.words;
            reading_first <= granted_first;
            packet        <= granted;
            enqueued      <= granted_enqueued;
            packet_mark   <= granted_mark;
        end else if (advance && reading) begin
            first <= 1'b0;
            left  <= left - 1'b1;
        end

    // The memory's own register, and the one behind it that block RAM has.
    localparam int ABOUT = 3 + 5 + BYTES_WIDTH + TIME_WIDTH;
    logic [DATA_WIDTH-1:0] fetched, word, marked;
    logic [ABOUT-1:0] about_fetched, about_word;
    logic fetched_valid, word_valid, word_first, word_last, word_mark;
    logic [4:0] word_ecn;
    logic [BYTES_WIDTH-1:0] word_bytes;
    logic [TIME_WIDTH-1:0] word_enqueued;

    always_ff @(posedge clk)
        if (advance) begin
            fetched       <= memory[at];
            about_fetched <= {first, left == 1, packet_mark, packet.ecn, packet.last_bytes, enqueued};
            word          <= fetched;
            about_word    <= about_fetched;
        end

    assign {word_first, word_last, word_mark, word_ecn, word_bytes, word_enqueued} = about_word;

    always_ff @(posedge clk)
        if (rst) {fetched_valid, word_valid} <= 2'b00;
        else if (advance) {fetched_valid, word_valid} <= {reading, fetched_valid};

    ecn_mark #(.DATA_WIDTH(DATA_WIDTH)) ecn_mark (
        .clk, .advance, .first(word_first), .enable(word_mark), .found(word_ecn), .word, .marked
    );

    always_ff @(posedge clk)
        if (advance) begin
            m_axis_tdata <= marked;
            m_axis_tkeep <= word_last && word_bytes != 0 ? ~({BYTES{1'b1}} << word_bytes) : '1;
            m_axis_tlast <= word_last;
            m_axis_tuser <= word_enqueued;
        end

    always_ff @(posedge clk)
        if (rst) m_axis_tvalid <= 1'b0;
        else if (advance) m_axis_tvalid <= word_valid;

    // ---- Cells that are free again: those of a packet dropped, or of one that has been read, which waits if there
    //      are both. FQ-CoDel drops one in three cycles at most: few wait. ----
    logic back, no_read;
    cell_t back_first, back_last, read_first, read_last;
    count_t back_words, read_words;

    fifo #(.WIDTH(2 * CELL + COUNT), .DEPTH(4)) read (
        .clk, .rst, .put(ends), .last({reading_first, packet.last, packet.words}), .take(!no_read && !(gone && gone_drop)),
        .first({read_first, read_last, read_words}), .empty(no_read), .full()
    );

    assign back       = (gone && gone_drop) || !no_read;
    assign back_first = gone && gone_drop ? gone_first : read_first;
    assign back_last  = gone && gone_drop ? gone_packet.last : read_last;
    assign back_words = gone && gone_drop ? gone_packet.words : read_words;

    cells #(.CELLS(CELLS)) cells (
        .clk, .rst, .ready(s_axis_tready),
        .take(coming && !no_room), .undo(coming && no_room && !too_big), .begin_at, .undo_words(words_before), .here, .free,
        .walk(take), .from(granted_first), .on(reading && advance), .at,
        .back, .back_first, .back_last, .back_words
    );
endmodule
