// The queues themselves: whole packets in, whole packets out, in order, or not at all.
//
// Each of QUEUES queues has WORDS words of one memory, used as a ring, and a ring of descriptors, one
// for each packet: length, when it came, its ECN field. A packet is queued when its
// last word is in; one that does not fit is forgotten (a tail drop). On the other side the queues take
// turns; for the packet whose turn it is an AQM is asked (codel.sv), and what it drops is passed over:
// its words are never read. It must not know why a packet is dropped.
//
//     in ──▶ write ──▶ memory ──────────────────────▶ read ──▶ mark ──▶ out
//              └─────▶ descriptors ──▶ next ──▶ ask ──▶ granted ┘
//
// The AQM is asked as late as can be without leaving the wire idle: when at most LEAD words of the
// packets before are still to be read. `granted` holds the packet whose turn is next then; behind short
// ones another is with the AQM already, and stays there until `granted` is free.
module queue #(
    parameter int DATA_WIDTH  = 256,
    parameter int QUEUES      = 1,     // 1 to 64
    parameter int WORDS       = 2048,  // of memory for each; a power of two
    parameter int LEAD        = 4,     // at most 6; the AQM's answer takes three cycles: 4 leaves no gap
    parameter int TIME_WIDTH  = 48,
    parameter int QUEUE_WIDTH = QUEUES > 1 ? $clog2(QUEUES) : 1
) (
    input logic clk,
    input logic rst,
    input logic [TIME_WIDTH-1:0] now,

    // Packets that come: `tdest` is the queue. Always ready, but for QUEUES cycles after a reset.
    input  logic [  DATA_WIDTH-1:0] s_axis_tdata,
    input  logic [DATA_WIDTH/8-1:0] s_axis_tkeep,  // all ones but in the last word, there from the lowest
    input  logic                    s_axis_tlast,
    input  logic                    s_axis_tvalid,
    input  logic [ QUEUE_WIDTH-1:0] s_axis_tdest,
    output logic                    s_axis_tready,

    // The AQM
    output logic                   ask,
    input  logic                   ready,
    output logic [QUEUE_WIDTH-1:0] ask_queue,
    output logic [ TIME_WIDTH-1:0] ask_enqueued,
    output logic [           31:0] ask_backlog,
    output logic [           15:0] ask_length,
    output logic                   ask_capable,
    input  logic                   answer,
    input  logic                   drop,
    input  logic                   mark,

    // Packets that leave: `tuser` is when they were enqueued
    output logic [  DATA_WIDTH-1:0] m_axis_tdata,
    output logic [DATA_WIDTH/8-1:0] m_axis_tkeep,
    output logic                    m_axis_tlast,
    output logic                    m_axis_tvalid,
    output logic [ QUEUE_WIDTH-1:0] m_axis_tdest,
    output logic [  TIME_WIDTH-1:0] m_axis_tuser,
    input  logic                    m_axis_tready,

    // What happened in this cycle, to be counted
    output logic                   was_queued,
    output logic                   was_refused,  // no room: a tail drop
    output logic [QUEUE_WIDTH-1:0] arrival_queue,
    output logic                   was_sent,
    output logic                   was_dropped,
    output logic                   was_marked,
    output logic [QUEUE_WIDTH-1:0] decision_queue
);
    localparam int BYTES = DATA_WIDTH / 8;
    localparam int BYTES_WIDTH = $clog2(BYTES);
    localparam int POINTER = $clog2(WORDS) + 1;  // one bit more than an address: full is not empty
    localparam int ENTRIES = WORDS / 2;          // a frame of 60 bytes has two words
    localparam int ENTRY = $clog2(ENTRIES) + 1;
    localparam int WORD_ADDRESS = $clog2(QUEUES * WORDS);
    localparam int ENTRY_ADDRESS = $clog2(QUEUES * ENTRIES);
    localparam int FILL = POINTER + BYTES_WIDTH;   // bits that count the bytes of a queue
    localparam int DESCRIPTOR = 16 + 5 + TIME_WIDTH;

    typedef logic [QUEUE_WIDTH-1:0] queue_t;
    typedef logic [POINTER-1:0] pointer_t;
    typedef logic [ENTRY-1:0] entry_t;
    typedef logic [FILL-1:0] fill_t;
    typedef logic [DESCRIPTOR-1:0] descriptor_t;  // {length, ECN field, when it came}

    function automatic logic [POINTER-1:0] words_of(input logic [15:0] bytes);
        words_of = POINTER'(bytes >> BYTES_WIDTH) + POINTER'(bytes[BYTES_WIDTH-1:0] != 0);
    endfunction

    logic [DATA_WIDTH-1:0] memory[0:QUEUES*WORDS-1];
    descriptor_t descriptors[0:QUEUES*ENTRIES-1];

    function automatic logic [WORD_ADDRESS-1:0] word_address(input logic [QUEUE_WIDTH-1:0] q, input logic [POINTER-1:0] p);
        word_address = WORD_ADDRESS'({q, p[POINTER-2:0]});
    endfunction

    function automatic logic [ENTRY_ADDRESS-1:0] entry_address(input logic [QUEUE_WIDTH-1:0] q, input logic [ENTRY-1:0] e);
        entry_address = ENTRY_ADDRESS'({q, e[ENTRY-2:0]});
    endfunction

    // ---- After a reset, every queue is emptied, one a cycle. ----
    logic sweeping;
    queue_t sweep;
    always_ff @(posedge clk)
        if (rst) begin
            sweeping <= 1'b1;
            sweep    <= '0;
        end else if (sweeping) begin
            sweep    <= sweep + 1;
            sweeping <= sweep != QUEUE_WIDTH'(QUEUES - 1);
        end

    // ---- In: words are written behind the last whole packet; the last word makes it one. ----
    pointer_t written_of[0:QUEUES-1];            // behind the last whole packet
    entry_t last_entry_of[0:QUEUES-1]; // behind its descriptor
    fill_t bytes_in_of[0:QUEUES-1];              // all that was ever queued
    pointer_t taken_of[0:QUEUES-1];              // where the next packet to be asked about begins
    entry_t next_entry_of[0:QUEUES-1]; // its descriptor
    fill_t bytes_out_of[0:QUEUES-1];             // all that has been asked about

    // A word that comes is a cycle in registers, with the number of its bytes, and with its queue's oldest
    // word that is still needed: what becomes free in that cycle counts from the next one on.
    logic arriving, in_last;
    logic [DATA_WIDTH-1:0] in_word;
    logic [BYTES_WIDTH:0] bytes_in_word, in_bytes;
    queue_t in_queue;
    pointer_t oldest_now, oldest;

    assign s_axis_tready = !sweeping;

    byte_count #(.BYTES(BYTES)) byte_count (.keep(s_axis_tkeep), .number(bytes_in_word));

    always_ff @(posedge clk) begin
        arriving <= !rst && s_axis_tvalid && s_axis_tready;
        in_word  <= s_axis_tdata;
        in_last  <= s_axis_tlast;
        in_bytes <= bytes_in_word;
        in_queue <= s_axis_tdest;
        oldest   <= oldest_now;
    end

    pointer_t words_before;  // of the packet that is coming
    logic too_big;
    logic [4:0] ecn_before, ecn_now, ecn_found;
    logic first_word, no_room, whole;
    pointer_t position;
    fill_t length;

    assign first_word = words_before == 0 && !too_big;
    assign position   = written_of[in_queue] + words_before;
    assign ecn_found  = first_word ? ecn_now : ecn_before;
    assign length     = {words_before, {BYTES_WIDTH{1'b0}}} + FILL'(in_bytes);

    ecn_field #(.DATA_WIDTH(DATA_WIDTH)) ecn_field (.word(in_word), .found(ecn_now));

    // A ring is full of what is queued and of what is being asked about, waits or is read.
    entry_t entries_used;
    assign entries_used = last_entry_of[in_queue] - next_entry_of[in_queue];
    assign no_room      = too_big || (position ^ oldest) == POINTER'(WORDS)
                          || entries_used == ENTRY'(ENTRIES) || length >> 16 != 0
                          || 32'(in_queue) >= QUEUES;
    assign whole        = arriving && in_last && !no_room;

    always_ff @(posedge clk) if (arriving && !no_room) memory[word_address(in_queue, position)] <= in_word;

    always_ff @(posedge clk)
        if (rst) begin
            words_before <= '0;
            too_big      <= 1'b0;
        end else if (arriving) begin
            words_before <= in_last || no_room ? '0 : words_before + 1;
            too_big      <= no_room && !in_last;
        end

    always_ff @(posedge clk) if (arriving) ecn_before <= ecn_found;

    always_ff @(posedge clk)
        if (whole)
            descriptors[entry_address(in_queue, last_entry_of[in_queue])] <= {16'(length), ecn_found, now};

    always_ff @(posedge clk)
        if (sweeping) begin
            written_of[sweep]    <= '0;
            last_entry_of[sweep] <= '0;
            bytes_in_of[sweep]   <= '0;
        end else if (whole) begin
            written_of[in_queue]    <= position + 1;
            last_entry_of[in_queue] <= last_entry_of[in_queue] + 1;
            bytes_in_of[in_queue]   <= bytes_in_of[in_queue] + length;
        end

    assign arrival_queue = in_queue;
    assign was_queued    = whole;
    assign was_refused   = arriving && in_last && no_room;

    // ---- Next: the queues that have packets take turns. The descriptor is read from memory. ----
    logic [QUEUES-1:0] waiting;  // queues with descriptors that are not yet taken
    queue_t turn, picked;
    logic pick, next_valid, next_taken, read_valid;
    queue_t next_queue, read_queue;
    descriptor_t read_descriptor, next_descriptor;
    entry_t picked_entry;

    // The first that waits, from the one whose turn it is on; else the first of all.
    logic [QUEUES-1:0] from_turn;
    integer n;
    always_comb begin
        from_turn = waiting & ({QUEUES{1'b1}} << turn);
        picked = '0;
        for (n = QUEUES - 1; n >= 0; n = n - 1) if (waiting[n]) picked = QUEUE_WIDTH'(n);
        for (n = QUEUES - 1; n >= 0; n = n - 1) if (from_turn[n]) picked = QUEUE_WIDTH'(n);
    end

    assign pick         = waiting != 0 && (!read_valid || !next_valid || next_taken);
    assign picked_entry = next_entry_of[picked];

    always_ff @(posedge clk) begin
        if (pick) begin
            read_descriptor <= descriptors[entry_address(picked, picked_entry)];
            read_queue      <= picked;
        end
        if (!next_valid || next_taken) begin
            next_descriptor <= read_descriptor;
            next_queue      <= read_queue;
        end
    end

    always_ff @(posedge clk)
        if (rst) begin
            turn       <= '0;
            read_valid <= 1'b0;
            next_valid <= 1'b0;
        end else begin
            if (pick) turn <= picked == QUEUE_WIDTH'(QUEUES - 1) ? '0 : picked + 1'b1;
            if (pick || !next_valid || next_taken) read_valid <= pick;
            if (!next_valid || next_taken) next_valid <= read_valid;
        end

    always_ff @(posedge clk)
        if (sweeping) next_entry_of[sweep] <= '0;
        else if (pick) next_entry_of[picked] <= picked_entry + 1;

    always_ff @(posedge clk)
        if (rst || sweeping) waiting <= '0;
        else begin
            if (pick && picked_entry + 1'b1 == last_entry_of[picked]) waiting[picked] <= 1'b0;
            if (whole) waiting[in_queue] <= 1'b1;
        end

    // ---- Ask: when the answer can be used soon. ----
    // asking: between question and answer; known: it may be sent, but `granted` is not free yet.
    logic asking, known, granted, grant, take;
    logic soon;
    queue_t asked_queue, granted_queue;
    pointer_t asked_from, asked_words, granted_from, granted_words;
    logic [15:0] asked_length, granted_length;
    logic [4:0] ask_ecn, asked_ecn, granted_ecn;
    fill_t bytes_out;  // with the packet that is asked about
    logic [TIME_WIDTH-1:0] asked_enqueued, granted_enqueued;
    logic asked_mark, granted_mark;

    assign {ask_length, ask_ecn, ask_enqueued} = next_descriptor;
    assign ask_queue   = next_queue;
    assign ask_capable = ask_ecn[1:0] != 0;
    assign bytes_out   = bytes_out_of[next_queue] + FILL'(ask_length);
    assign ask_backlog = 32'(FILL'(bytes_in_of[next_queue] - bytes_out));
    assign ask         = next_valid && soon && (!(asking || known) || grant);
    assign next_taken  = ask && ready;

    always_ff @(posedge clk)
        if (next_taken) begin
            asked_queue    <= next_queue;
            asked_from     <= taken_of[next_queue];
            asked_words    <= words_of(ask_length);
            asked_length   <= ask_length;
            asked_ecn      <= ask_ecn;
            asked_enqueued <= ask_enqueued;
        end

    always_ff @(posedge clk)
        if (sweeping) begin
            taken_of[sweep]     <= '0;
            bytes_out_of[sweep] <= '0;
        end else if (next_taken) begin
            taken_of[next_queue]     <= taken_of[next_queue] + words_of(ask_length);
            bytes_out_of[next_queue] <= bytes_out;
        end

    logic answered;
    assign answered       = asking && answer;
    assign was_sent       = answered && !drop;
    assign was_dropped    = answered && drop;
    assign was_marked     = answered && mark && !drop;
    assign decision_queue = asked_queue;

    assign grant          = (was_sent || known) && (!granted || take);

    always_ff @(posedge clk)
        if (rst) begin
            asking  <= 1'b0;
            known   <= 1'b0;
            granted <= 1'b0;
        end else begin
            if (next_taken) asking <= 1'b1;
            else if (answered) asking <= 1'b0;
            known <= (was_sent || known) && !grant;
            if (grant) granted <= 1'b1;
            else if (take) granted <= 1'b0;
        end

    always_ff @(posedge clk) if (was_sent) asked_mark <= mark;

    always_ff @(posedge clk)
        if (grant) begin
            granted_queue    <= asked_queue;
            granted_from     <= asked_from;
            granted_words    <= asked_words;
            granted_length   <= asked_length;
            granted_ecn      <= asked_ecn;
            granted_enqueued <= asked_enqueued;
            granted_mark     <= known ? asked_mark : mark;
        end

    // ---- Out: a word a cycle whenever the next one's place is free. ----
    logic advance, reading, first;
    queue_t reading_queue;
    pointer_t reading_from, left;  // the packet's next word; words not yet read, this one included
    logic [15:0] reading_length;
    logic [4:0] reading_ecn;
    logic [TIME_WIDTH-1:0] reading_enqueued;
    logic reading_mark;

    assign advance = m_axis_tready || !m_axis_tvalid;
    assign take    = granted && (!reading || (advance && left == 1));

    // The words that are to be read before those of a packet that is asked about now. Of each number it
    // only counts whether it is above LEAD.
    logic [POINTER:0] ahead;  // of the packets granted and read
    always_ff @(posedge clk)
        if (rst) ahead <= '0;
        else ahead <= ahead + (grant ? {1'b0, asked_words} : '0) - (POINTER + 1)'(reading && advance);

    function automatic logic [2:0] few(input logic [POINTER:0] words);
        few = words[POINTER:3] == 0 ? words[2:0] : 3'd7;
    endfunction

    assign soon = {1'b0, few(ahead)} + {1'b0, asking || known ? few({1'b0, asked_words}) : 3'd0} <= 4'(LEAD);

    always_ff @(posedge clk)
        if (rst) reading <= 1'b0;
        else if (take) reading <= 1'b1;
        else if (advance && left == 1) reading <= 1'b0;

    always_ff @(posedge clk)
        if (take) begin
            first            <= 1'b1;
            reading_queue    <= granted_queue;
            reading_from     <= granted_from;
            left             <= granted_words;
            reading_length   <= granted_length;
            reading_ecn      <= granted_ecn;
            reading_enqueued <= granted_enqueued;
            reading_mark     <= granted_mark;
        end else if (advance && reading) begin
            first        <= 1'b0;
            reading_from <= reading_from + 1;
            left         <= left - 1;
        end

    // The memory's own register, and the one behind it that block RAM has.
    localparam int ABOUT = 3 + 5 + QUEUE_WIDTH + BYTES_WIDTH + TIME_WIDTH;
    logic [DATA_WIDTH-1:0] fetched, word, marked;
    logic [ABOUT-1:0] about_fetched, about_word;
    logic fetched_valid, word_valid, word_first, word_last, word_mark;
    logic [4:0] word_ecn;
    queue_t word_queue;
    logic [BYTES_WIDTH-1:0] word_bytes;  // of the last word; 0 is all
    logic [TIME_WIDTH-1:0] word_enqueued;

    always_ff @(posedge clk)
        if (advance) begin
            fetched       <= memory[word_address(reading_queue, reading_from)];
            about_fetched <= {
                first, left == 1, reading_mark, reading_ecn, reading_queue, reading_length[BYTES_WIDTH-1:0], reading_enqueued
            };
            word          <= fetched;
            about_word    <= about_fetched;
        end

    assign {word_first, word_last, word_mark, word_ecn, word_queue, word_bytes, word_enqueued} = about_word;

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
            m_axis_tdest <= word_queue;
            m_axis_tuser <= word_enqueued;
        end

    always_ff @(posedge clk)
        if (rst) m_axis_tvalid <= 1'b0;
        else if (advance) m_axis_tvalid <= word_valid;

    // The oldest word of a queue that is still needed.
    always_comb begin
        oldest_now = taken_of[s_axis_tdest];
        if ((asking || known) && asked_queue == s_axis_tdest) oldest_now = asked_from;
        if (granted && granted_queue == s_axis_tdest) oldest_now = granted_from;
        if (reading && reading_queue == s_axis_tdest) oldest_now = reading_from;
    end

`ifdef FORMAL
`include "queue_properties.svh"
`endif
endmodule
