// What is proven of codel.sv for all inputs, read into the module by formal.py.
//
// Beside it runs RFC 8289's own routine for one queue, any: the pseudocode of sections 5.5 and 5.6, a
// packet at a time. The control law is cut out (any_control_law.sv): what it says may be anything,
// and both use it. Of ECN the pseudocode says nothing; here a packet that can be marked is marked where
// it would be dropped, and sent, which ends the routine: drop_next has moved on then. Times are
// compared as the module does, by the sign of their difference.

// ---- What is assumed ----
logic begun = 1'b0;
always_ff @(posedge clk) begun <= 1'b1;
always_comb assume (rst == !begun);
always_comb assume (32'(queue_id) < QUEUES);

logic [31:0] the_interval, the_target, the_maxpacket;
assign the_interval  = $anyconst;
assign the_target    = $anyconst;
assign the_maxpacket = $anyconst;
logic [QUEUE_WIDTH-1:0] one;  // the queue that is looked at
assign one = $anyconst;
always_comb begin
    assume (interval == the_interval && target == the_target && maxpacket == the_maxpacket);
    assume (32'(one) < QUEUES);
end

// What is kept of that queue, once it has been forgotten after the reset.
logic forgotten, above, dropping, owing, place, used;
assign forgotten = phase != SWEEP || sweep > one;
assign {above, dropping, used} = flags_of[one];
assign {owing, place} = place_of[one];

// A question stays until it is taken.
always_ff @(posedge clk)
    if (begun && !rst && $past(ask && !ready)) assume (ask && $stable(queue_id));

// ---- Question and answer ----
logic taken, weighed;
always_ff @(posedge clk) begin
    taken   <= begun && !rst && ready && ask;
    weighed <= begun && !rst && taken;
end
always_comb
    if (begun && !rst) begin
        assert (taken == (phase == WEIGH));
        assert (answer == weighed);                    // one answer for each, two cycles later
        assert (!(drop && mark) && (answer || !(drop || mark)));
        if (mark) assert (can_mark);
        if (drop || mark) assert (sojourn_time >= TIME_WIDTH'(target) && behind > maxpacket);
    end

// Ready again with an answer, or ten cycles behind one that drops or marks.
logic [3:0] since;
logic [8:0] law_running;  // where the control law is, counted here
always_ff @(posedge clk) begin
    since       <= rst || phase != CONTROL_LAW || law_done ? 4'd0 : since + 4'd1;
    law_running <= rst ? 9'd0 : {law_running[7:0], law_start};
end
always_comb
    if (begun && !rst) begin
        assert (since <= 8 && law_done == law_running[8]);
        assert (law_running == (phase == CONTROL_LAW ? 9'd1 << since : 9'd0));
        assert (phase <= CONTROL_LAW && (phase == CONTROL_LAW || since == 0));
        if (phase == SWEEP) assert (32'(sweep) < QUEUES);
        if (answer) assert (ready == !(drop || mark));
    end

// ---- Other queues are left alone ----
always_ff @(posedge clk)
    if (begun && !rst && $past(begun && !rst && phase != SWEEP) && $past(q) != one) begin
        assert ($stable({flags_of[one], place_of[one]}));
        assert ($stable({count_of[one], lastcount_of[one], first_above_time_of[one]}));
        assert ($stable({drop_next_of[{one, 1'b0}], drop_next_of[{one, 1'b1}]}));
    end

`ifdef RFC_8289
// ---- RFC 8289 beside it ----
logic rfc_above, rfc_dropping;  // above: first_above_time is not 0
logic [TIME_WIDTH-1:0] rfc_first_above_time, rfc_drop_next;
logic [31:0] rfc_count, rfc_lastcount;
// Where deque() is when the next packet is taken from the queue: at its beginning, behind the drop
// that begins the drop state, or in the loop behind a drop.
logic behind_first, in_loop;

logic asked_one, rfc_old, rfc_ok, rfc_signal, rfc_delta_counts;
logic rfc_still;  // in the loop, after this packet's dodeque
logic [TIME_WIDTH-1:0] rfc_moved, rfc_since;
logic [31:0] rfc_delta, rfc_entry;
logic [TIME_WIDTH-1:0] rfc_from;           // what control_law() is told as t
logic [TIME_WIDTH-1:0] spacing, law_said;  // what it adds: now, and for the last drop of this queue

assign spacing   = law_says - law_from;
assign asked_one = phase == DECIDE && q == one;
assign rfc_old   = !(sojourn_time < TIME_WIDTH'(target) || behind <= maxpacket);
assign rfc_since = time_now - rfc_first_above_time;
assign rfc_ok    = rfc_old && rfc_above && !rfc_since[TIME_WIDTH-1];

// In the loop: `else drop_next = control_law(drop_next, count)`, then the loop's condition again.
assign rfc_moved = in_loop && rfc_ok ? rfc_drop_next + law_said : rfc_drop_next;
logic [TIME_WIDTH-1:0] rfc_due;
assign rfc_due   = time_now - rfc_moved;
assign rfc_still = rfc_dropping && rfc_ok;

logic [TIME_WIDTH-1:0] rfc_ago;
assign rfc_ago   = time_now - rfc_drop_next;
assign rfc_delta = rfc_count - rfc_lastcount;
assign rfc_delta_counts = rfc_delta > 1 && (rfc_ago[TIME_WIDTH-1] || rfc_ago < TIME_WIDTH'({interval, 4'b0}));
assign rfc_entry = rfc_delta_counts ? rfc_delta : 32'd1;

always_comb begin
    rfc_signal = 1'b0;
    if (behind_first) rfc_signal = 1'b0;  // `r = dodeque(now)` is what is sent, whatever it says
    else if (rfc_dropping) rfc_signal = rfc_still && !rfc_due[TIME_WIDTH-1];
    else rfc_signal = rfc_ok;
end

always_ff @(posedge clk)
    if (rst) begin
        {rfc_above, rfc_dropping, behind_first, in_loop} <= 4'b0;
        rfc_count     <= 0;
        rfc_lastcount <= 0;
        rfc_drop_next <= 0;
    end else if (asked_one) begin
        rfc_above <= rfc_old;
        if (rfc_old && !rfc_above) rfc_first_above_time <= time_now + TIME_WIDTH'(interval);
        behind_first <= 1'b0;
        in_loop      <= 1'b0;
        rfc_from     <= rfc_dropping ? rfc_moved : time_now;
        if (behind_first) rfc_dropping <= 1'b1;
        else if (rfc_dropping) begin
            rfc_dropping  <= rfc_ok;
            rfc_drop_next <= rfc_moved;
            if (rfc_signal) begin
                rfc_count <= rfc_count + 1;
                in_loop   <= !can_mark;
            end
        end else if (rfc_ok) begin
            behind_first  <= !can_mark;
            rfc_count     <= rfc_entry;
            rfc_lastcount <= rfc_entry;
            rfc_dropping  <= 1'b1;
        end
    end else if (law_done && q == one) begin
        law_said <= spacing;
        if (!in_loop) rfc_drop_next <= rfc_from + spacing;
    end

// How long ago a time was that the module looks at.
logic [TIME_WIDTH-1:0] since_due, since_first_above;
assign since_due         = time_now - due;
assign since_first_above = time_now - first_above_time;

// Two assumptions about time. It does not run backwards, nor half its range within one drop state: a
// first_above_time that has come stays in the past. And the packet behind the first dropped one is
// asked about before drop_next comes; the pseudocode takes both at the same instant.
logic had_come;
always_ff @(posedge clk)
    if (rst) had_come <= 1'b0;
    else if (asked_one) had_come <= rfc_old && rfc_above && (had_come || !rfc_since[TIME_WIDTH-1]);
always_comb
    if (asked_one) begin
        if (had_come && rfc_above) assume (!rfc_since[TIME_WIDTH-1]);
        if (behind_first) assume (since_due[TIME_WIDTH-1]);
    end

// What holds between the two when the queue has no question open, and on the way to it.
logic settled, is_recent, begins_at_1;
logic [31:0] count_begun;
assign settled     = !(phase == CONTROL_LAW && q == one);
assign is_recent   = since_due[TIME_WIDTH-1] || since_due < TIME_WIDTH'({interval, 4'b0});
assign begins_at_1 = !is_dropping && !(is_used && is_recent && sum[31:1] != 0);
assign count_begun = begins_at_1 ? 1 : sum;

logic [TIME_WIDTH-1:0] drop_next, next_owed;
assign drop_next = drop_next_of[{one, place}];
assign next_owed = drop_next_of[{one, !place}];

always_comb
    if (begun && !rst && forgotten) begin
        if (asked_one) assert (drop == (rfc_signal && !can_mark) && mark == (rfc_signal && can_mark));

        assert (above == rfc_above);
        if (rfc_above) assert (first_above_time_of[one] == rfc_first_above_time);
        if (settled) begin
            assert ((used ? count_of[one] : 0) == rfc_count);
            assert ((used ? lastcount_of[one] : 0) == rfc_lastcount);
        end
        assert (owing == in_loop && (!in_loop || dropping));
        assert (!dropping || (rfc_dropping && rfc_above && had_come && used));
        assert (!rfc_dropping || dropping || !rfc_above);
        assert (!behind_first || (dropping && !in_loop));
        if (settled || is_dropping) assert ((used ? drop_next : 0) == rfc_drop_next);
        if (settled && in_loop) assert (next_owed == rfc_drop_next + law_said);
        if (!settled) begin
            assert (dropping && used && law_from == rfc_from && law_place == (place ^ owing));
            assert (count_begun == rfc_count && (is_dropping || rfc_lastcount == rfc_count));
            assert (ago == since_due);
            if (since != 0) assert (recently == is_recent && begin_at_1 == begins_at_1);
            if (is_dropping) assert (lastcount_of[one] == rfc_lastcount);
            if (is_dropping) assert (law_from == rfc_drop_next && !behind_first);
            else assert (!in_loop);
        end
        // What is in the registers is the queue's state. Where it is not, it does not count: when
        // drop_next comes while the queue is not above TARGET.
        if (phase == WEIGH || phase == DECIDE) assert (32'(q) < QUEUES);
        if ((phase == WEIGH || phase == DECIDE) && q == one) begin
            assert (count == count_of[one] && lastcount == lastcount_of[one]);
            if (above) assert (first_above_time == first_above_time_of[one]);
            if (above) assert (due == drop_next_of[{one, place ^ owing}]);
        end
        if (asked_one) begin
            assert ({is_above, is_dropping, is_used} == flags_of[one]);
            assert ({is_owing, is_placed} == place_of[one]);
            assert (late == (sojourn_time >= TIME_WIDTH'(target)) && stands == (behind > maxpacket));
            assert (has_come == !(is_dropping ? since_due[TIME_WIDTH-1] : since_first_above[TIME_WIDTH-1]));
            assert (sum == (is_dropping ? count + 1 : count - lastcount));
            if (!above) assert (first_above_time_of[one] == time_now + TIME_WIDTH'(interval));
        end
    end

`ifdef WITNESS
// Where to look for what can happen: one queue, always late, a question whenever one is taken.
always_comb assume (ask && one == 0 && queue_id == 0 && target == 0 && interval == 0 && maxpacket == 0 && ecn);
always_comb assume (enqueued == 0 && backlog <= 1 && spacing < 64);
always_ff @(posedge clk) assume (now == (rst ? '0 : $past(now) + 1'b1));
`endif

// Not proven of nothing: the packet behind the first dropped one, a drop in the drop state, and a
// mark behind a drop.
always_comb
    if (begun && !rst && asked_one) begin
        cover (behind_first && !rfc_old);
        cover (drop && rfc_dropping && rfc_count > 0);
        cover (mark && in_loop);
    end
`endif
