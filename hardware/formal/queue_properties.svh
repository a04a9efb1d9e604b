// What is proven of queue.sv, read into the module by formal.py; ecn.sv is cut out (any_ecn.sv).
//
// For any arrivals, any back-pressure, any AQM that answers once for each question: packets are
// neither lost nor made, nothing that is still needed is overwritten, what leaves is stable until it
// is taken, and something always moves. Shown with words of two bytes, for two
// queues with rings of four and for one of eight; nothing in the module but its widths depends on them.

// ---- What is assumed ----
logic begun = 1'b0;
always_ff @(posedge clk) begun <= 1'b1;
always_comb assume (rst == !begun);

logic offered, offered_last;  // a word is taken; the last one taken ended its packet
queue_t offered_to;           // the queue of the last one
assign offered = s_axis_tvalid && s_axis_tready;
always_ff @(posedge clk)
    if (rst) offered_last <= 1'b1;
    else if (offered) begin
        offered_last <= s_axis_tlast;
        offered_to   <= s_axis_tdest;
    end
always_comb begin
    assume (32'(s_axis_tdest) < QUEUES);
    if (!offered_last) assume (s_axis_tdest == offered_to);
    // Bytes are there from the lowest; all of them but in the last word.
    assume (s_axis_tkeep[0] && (s_axis_tkeep & (s_axis_tkeep + 1'b1)) == 0);
    if (!s_axis_tlast) assume (&s_axis_tkeep);
end

// The same a cycle later, behind the registers.
logic last_word_in;
queue_t coming_to;  // of the packet that is coming
always_ff @(posedge clk)
    if (rst) last_word_in <= 1'b1;
    else if (arriving) begin
        last_word_in <= in_last;
        coming_to    <= in_queue;
    end

// The AQM: one answer for each question, and not before the next cycle.
always_comb begin
    if (answer) assume (asking);
    assume (!(drop && mark));
end

// ---- What is in the module ----
localparam int LEDGER = ENTRY + 2;  // bits; differences count, not values
logic good;
assign good = begun && !rst;
logic swept;  // all queues have been emptied
assign swept = good && !sweeping;

logic leaves;  // a frame's last word is taken
assign leaves = m_axis_tvalid && m_axis_tready && m_axis_tlast;

logic asked_held;  // a packet is with the AQM, or waits behind the one that is granted
assign asked_held = asking || known;

// Behind the memory.
logic fetched_last;
queue_t fetched_queue;
assign fetched_last  = about_fetched[ABOUT-2];
assign fetched_queue = about_fetched[TIME_WIDTH+BYTES_WIDTH+:QUEUE_WIDTH];

// Of a packet, the words.
function automatic logic [POINTER-1:0] words_at(input logic [DESCRIPTOR-1:0] descriptor);
    words_at = words_of(descriptor[DESCRIPTOR-1-:16]);
endfunction

// It has words, and no more than a ring.
function automatic logic is_whole(input logic [DESCRIPTOR-1:0] descriptor);
    is_whole = descriptor[DESCRIPTOR-1-:16] != 0 && descriptor[DESCRIPTOR-1-:16] <= 16'(WORDS * BYTES);
endfunction

genvar queue_number, entry;
generate
    for (queue_number = 0; queue_number < QUEUES; queue_number = queue_number + 1) begin : each
        localparam logic [QUEUE_WIDTH-1:0] Q = queue_number;
        logic sane;  // this queue has been emptied after the reset
        assign sane = good && (!sweeping || sweep > Q);

        // The packets of this queue: in its ring, read from it, with the AQM, granted, being read.
        entry_t ring;
        assign ring = last_entry_of[Q] - next_entry_of[Q];
        logic [LEDGER-1:0] queued, asked, sent, dropped, left_it;
        always_ff @(posedge clk)
            if (rst) {queued, asked, sent, dropped, left_it} <= '0;
            else begin
                queued  <= queued + LEDGER'(was_queued && arrival_queue == Q);
                asked   <= asked + LEDGER'(next_taken && ask_queue == Q);
                sent    <= sent + LEDGER'(was_sent && decision_queue == Q);
                dropped <= dropped + LEDGER'(was_dropped && decision_queue == Q);
                left_it <= left_it + LEDGER'(leaves && m_axis_tdest == Q);
            end

        logic in_read, in_next;
        assign in_read = read_valid && read_queue == Q;
        assign in_next = next_valid && next_queue == Q;

        // The words of the ring's packets, and of those read from it.
        logic [POINTER+3:0] words;
        integer entry_number;
        always_comb begin
            words = 0;
            for (entry_number = 0; entry_number < ENTRIES; entry_number = entry_number + 1)
                if (ENTRY'(entry_number) < ring)
                    words = words + words_at(descriptors[entry_address(Q, next_entry_of[Q] + ENTRY'(entry_number))]);
            if (in_read) words = words + words_at(read_descriptor);
            if (in_next) words = words + words_at(next_descriptor);
        end

        // From the oldest word that is needed up to those that nobody was asked about.
        logic [POINTER+3:0] needed, its_asked;
        assign its_asked = asked_held && asked_queue == Q ? asked_words : 0;
        always_comb begin
            needed = 0;
            if (asked_held && asked_queue == Q) needed = POINTER'(taken_of[Q] - asked_from);
            if (granted && granted_queue == Q) needed = POINTER'(taken_of[Q] - granted_from);
            if (reading && reading_queue == Q) needed = POINTER'(taken_of[Q] - reading_from);
        end

        // Every packet in the ring has words.
        for (entry = 0; entry < ENTRIES; entry = entry + 1) begin : kept
            logic [DESCRIPTOR-1:0] descriptor;
            assign descriptor = descriptors[entry_address(Q, next_entry_of[Q] + ENTRY'(entry))];
            always_comb if (sane && ENTRY'(entry) < ring) assert (is_whole(descriptor));
        end

        always_comb
            if (sane) begin
                assert (ring <= ENTRY'(ENTRIES));
                assert (waiting[Q] == (ring != 0) || sweeping);
                // No packet is lost that was not dropped, none is made.
                assert (queued - asked == LEDGER'(ring) + LEDGER'(in_read) + LEDGER'(in_next));
                assert (asked - sent - dropped == LEDGER'(asking && asked_queue == Q));
                assert (sent - left_it == LEDGER'(known && asked_queue == Q)
                        + LEDGER'(granted && granted_queue == Q)
                        + LEDGER'(reading && reading_queue == Q)
                        + LEDGER'(fetched_valid && fetched_last && fetched_queue == Q)
                        + LEDGER'(word_valid && word_last && word_queue == Q)
                        + LEDGER'(m_axis_tvalid && m_axis_tlast && m_axis_tdest == Q));
                // All its words together are where the ring says.
                assert (words <= WORDS && words == {4'b0, POINTER'(written_of[Q] - taken_of[Q])});
                // What is with the AQM, granted or being read is behind: nothing of it is written over.
                assert (words + needed <= WORDS);
                if (asked_held && asked_queue == Q)
                    assert (POINTER'(taken_of[Q] - asked_from) == asked_words);
                if (granted && granted_queue == Q)
                    assert (POINTER'(taken_of[Q] - granted_from) >= granted_words + its_asked);
                if (reading && reading_queue == Q)
                    assert (needed >= left + its_asked + (granted && granted_queue == Q
                                                          ? POINTER'(taken_of[Q] - granted_from) - its_asked : 0));
                // Free is what was free a cycle ago, or more.
                if (arriving && in_queue == Q) begin
                    assert (POINTER'(position - oldest) <= WORDS);
                    assert (words + needed + words_before <= POINTER'(position - oldest));
                end
                // The packet that is coming has room.
                if (words_before != 0 && coming_to == Q) assert (words + needed + words_before <= WORDS);
            end
    end
endgenerate

always_comb
    if (good) begin
        assert (!sweeping || (!arriving && words_before == 0 && waiting == 0));
        assert (!sweeping || (!read_valid && !next_valid && !asked_held && !granted && !reading));
        assert (!(asking && known) && (!known || granted));
        assert (!(words_before != 0 && (too_big || last_word_in)) && !(too_big && last_word_in));
        assert (words_before <= POINTER'(WORDS));
        // What is in the registers of a word that comes.
        assert (!sweeping || offered_last);
        if (arriving) begin
            assert (offered_last == in_last && offered_to == in_queue && 32'(in_queue) < QUEUES);
            assert (in_bytes != 0 && 32'(in_bytes) <= BYTES && (in_last || 32'(in_bytes) == BYTES));
            if (!last_word_in) assert (in_queue == coming_to);
        end else assert (offered_last == last_word_in && (last_word_in || offered_to == coming_to));
        assert (ahead == (granted ? granted_words : 0) + (reading ? left : 0));
        if (read_valid) assert (is_whole(read_descriptor));
        if (next_valid) assert (is_whole(next_descriptor));
        if (asked_held) assert (asked_words != 0 && asked_words == words_of(asked_length));
        if (granted) assert (granted_words != 0 && granted_words == words_of(granted_length));
        if (reading) assert (left != 0);
        assert (32'(read_queue) < QUEUES || !read_valid);
        assert (32'(next_queue) < QUEUES || !next_valid);
        assert (32'(asked_queue) < QUEUES || !asked_held);
        assert (32'(granted_queue) < QUEUES || !granted);
        assert (32'(reading_queue) < QUEUES || !reading);
        assert (32'(fetched_queue) < QUEUES || !fetched_valid);
        assert (32'(word_queue) < QUEUES || !word_valid);
        assert (32'(m_axis_tdest) < QUEUES || !m_axis_tvalid);
        assert (32'(turn) < QUEUES);
    end

// ---- What leaves stays until it is taken (AXI-Stream) ----
always_ff @(posedge clk)
    if (good && $past(good && m_axis_tvalid && !m_axis_tready)) begin
        assert (m_axis_tvalid && $stable({m_axis_tdata, m_axis_tkeep, m_axis_tlast}));
        assert ($stable({m_axis_tdest, m_axis_tuser}));
    end

// ---- Something always moves ----
// If the exit takes what it is offered and the AQM answers in the next cycle and is ready for a
// question, then no cycle but these few passes in which nothing gets on although a packet is held.
logic held, helped, moved;
logic [3:0] still;
assign held   = waiting != 0 || read_valid || next_valid || asked_held || granted || reading || fetched_valid || word_valid
                || m_axis_tvalid;
assign helped = m_axis_tready && ready && (answer || !asking);
assign moved  = next_taken || (asking && answer) || take || (m_axis_tvalid && m_axis_tready) || (reading && advance);
always_ff @(posedge clk) still <= rst || !held || !helped || moved ? 4'd0 : still + 4'd1;
always_comb if (good) assert (still <= 3);

// ---- A packet's bytes are its own ----
// One word of one queue, any, is followed from its arrival until it has been read or passed over; one
// descriptor likewise.
queue_t one;
logic follow, followed, alive, follow_entry, entry_followed;
pointer_t its_place, its_age;
entry_t its_entry, entry_age;
logic [DATA_WIDTH-1:0] its_word;
logic [DESCRIPTOR-1:0] its_descriptor;
logic [POINTER+3:0] kept_of_one, before_it;
assign one          = $anyconst;
assign follow       = $anyseq;
assign follow_entry = $anyseq;
always_comb assume (32'(one) < QUEUES);

// From the oldest word that is needed up to the last that has come.
always_comb begin
    before_it = 0;
    if (asked_held && asked_queue == one) before_it = POINTER'(taken_of[one] - asked_from);
    if (granted && granted_queue == one) before_it = POINTER'(taken_of[one] - granted_from);
    if (reading && reading_queue == one) before_it = POINTER'(taken_of[one] - reading_from);
    kept_of_one = before_it + POINTER'(written_of[one] - taken_of[one])
                  + (coming_to == one ? words_before : 0);
end
assign its_age   = its_place - (taken_of[one] - POINTER'(before_it));
assign alive     = followed && its_age < kept_of_one;
assign entry_age = its_entry - next_entry_of[one];

always_ff @(posedge clk) begin
    if (rst || sweeping) followed <= 1'b0;
    else if (followed) followed <= alive;
    else if (follow && arriving && !no_room && in_queue == one) begin
        followed  <= 1'b1;
        its_place <= position;
        its_word  <= in_word;
    end
    if (rst || sweeping) entry_followed <= 1'b0;
    else if (entry_followed) entry_followed <= !(pick && picked == one && picked_entry == its_entry);
    else if (follow_entry && whole && in_queue == one) begin
        entry_followed <= 1'b1;
        its_entry      <= last_entry_of[one];
        its_descriptor <= {16'(length), ecn_found, now};
    end
end

always_comb
    if (swept) begin
        if (alive) assert (memory[word_address(one, its_place)] == its_word);
        if (entry_followed) begin
            assert (entry_age < ENTRY'(last_entry_of[one] - next_entry_of[one]));
            assert (descriptors[entry_address(one, its_entry)] == its_descriptor);
        end
    end

always_ff @(posedge clk)
    if (swept && $past(swept)) begin
        if ($past(advance && reading && reading_queue == one && alive && reading_from == its_place))
            assert (fetched == $past(its_word));
        if ($past(pick && picked == one && entry_followed && picked_entry == its_entry))
            assert (read_descriptor == $past(its_descriptor));
    end

// Not proven of nothing: all of this can come.
always_comb
    if (swept) begin
        cover (alive && advance && reading && reading_queue == one && reading_from == its_place && left == 2);
        cover (was_dropped && granted);
        cover (was_refused && granted && next_valid);
        cover (leaves && read_valid && asking && !helped);
        cover (known && granted && next_taken);
    end
