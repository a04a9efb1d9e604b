// CoDel (RFC 8289): whether the packet at the head of a queue is sent, marked or dropped.
//
// Stands where the queues end and the wire begins. It is asked about a packet when the wire could
// take it, and answers before the wire does: a packet that is dropped is never read from memory, so
// no slot on the wire is lost. One state for each of QUEUES queues. It must not know how packets are
// kept (queue.sv) nor what is in them.
//
//     cycle 0   `ask` and `ready`: sojourn time = now - enqueued; this queue's times and counts are read
//     cycle 1   all comparisons, side by side; its flags are read, and its next count is computed
//     cycle 2   `answer`, with `drop` or `mark`, from what was compared; the flags are written. `ready` again,
//               so that a question may come every two cycles; but after a drop or a mark
//     cycle 2   the control law begins; whether count starts at 1 is known when it looks into its ROM
//     cycle 11  the law is done: count and drop_next are written; `ready` in cycle 12
//
// With EARLY who asks has `queue_id` there a cycle before `ask`, and asks about one queue no more often than every
// four cycles. Its state is then read in that cycle, and block RAM, which answers late in a cycle, has a
// register behind it; `ready` comes a cycle later.
//
// After a reset every queue is forgotten, one a cycle, before the first question is taken.
//
// Times are in nanoseconds, of any clock that never stops, modulo 2^TIME_WIDTH: 48 bits are 78 hours.
// Comparisons are right for times up to half of that apart. (A queue that drops nothing for 39 hours
// may take its last drop state for a recent one, once.)
//
// These are the ports of every module that can stand here: see README.md, "A module of your own".
module codel #(
    parameter int QUEUES      = 1,
    parameter int TIME_WIDTH  = 48,
    parameter bit EARLY       = 0,
    parameter int QUEUE_WIDTH = QUEUES > 1 ? $clog2(QUEUES) : 1
) (
    input logic clk,
    input logic rst,

    // Parameters (RFC 8289 section 5.3)
    input logic [31:0] target,     // ns: sojourn time that a standing queue may have
    input logic [31:0] interval,   // ns: time above target before the first drop
    input logic [31:0] maxpacket,  // bytes: a backlog at which nothing is dropped
    input logic        ecn,        // mark what is capable of it instead of dropping it

    // The packet at the head
    input  logic                   ask,
    output logic                   ready,
    input  logic [QUEUE_WIDTH-1:0] queue_id,
    input  logic [ TIME_WIDTH-1:0] now,
    input  logic [ TIME_WIDTH-1:0] enqueued,  // when it came into the queue
    input  logic [           31:0] backlog,   // bytes that stay behind it
    input  logic [           15:0] length,    // its own (CoDel does not mind)
    input  logic                   capable,   // its transport knows ECN

    // What becomes of it: send it if neither
    output logic answer,
    output logic drop,
    output logic mark
);
    // State of a queue (section 5.2), names as there. After a drop the routine looks at the packet
    // behind before it moves drop_next on, and does not move it if that packet ends the drop state.
    // So a queue has two places for a time: drop_next is in the one that `place` says, and if it is
    // `owing`, the other one has where it goes. To move it is to turn `place` round.
    logic [TIME_WIDTH-1:0] first_above_time_of[0:QUEUES-1];
    localparam int PLACE = $clog2(2 * QUEUES);
    logic [TIME_WIDTH-1:0] drop_next_of[0:2*QUEUES-1];
    logic [31:0] count_of[0:QUEUES-1];
    logic [31:0] lastcount_of[0:QUEUES-1];
    // {above, dropping, used}. above: first_above_time is set (the RFC writes 0); used: has been in the drop
    // state since the reset, else count is 0.
    logic [2:0] flags_of[0:QUEUES-1];
    logic [1:0] place_of[0:QUEUES-1];  // {owing, place}

    typedef enum logic [2:0] {
        SWEEP,
        IDLE,
        WEIGH,
        DECIDE,
        CONTROL_LAW,
        WRITTEN  // with EARLY: what the control law said can be read
    } phase_t;
    phase_t phase;

    logic signal;  // congestion is signalled by a drop or by a mark
    assign ready = phase == IDLE || (!EARLY && phase == DECIDE && !signal);

    // Cycle 0: the question, and of its queue's state what takes long to work with, into registers. `due`:
    // when to drop next. In this cycle the packet before may be answered. Of what is read here only where
    // `due` is can change by that, and only if the drop state ends: then this packet is not dropped.
    logic [QUEUE_WIDTH-1:0] q;
    logic [TIME_WIDTH-1:0] time_now, sojourn_time, first_above_time, due;
    logic [31:0] behind, count, lastcount;
    logic can_mark;

    logic [TIME_WIDTH-1:0] first_above_time_read, due_read;
    logic [31:0] count_read, lastcount_read;
    logic [2:0] flags_read, flags;  // above, dropping, used: bits 2, 1, 0

    generate
        if (EARLY) begin : early
            always_ff @(posedge clk) begin
                first_above_time_read <= first_above_time_of[queue_id];
                due_read              <= drop_next_of[PLACE'({queue_id, ^place_of[queue_id]})];
                count_read            <= count_of[queue_id];
                lastcount_read        <= lastcount_of[queue_id];
                flags_read            <= flags_of[queue_id];
                if (ready && ask) flags <= flags_read;
            end
        end else begin : with_ask
            assign first_above_time_read = first_above_time_of[queue_id];
            assign due_read              = drop_next_of[PLACE'({queue_id, ^place_of[queue_id]})];
            assign count_read            = count_of[queue_id];
            assign lastcount_read        = lastcount_of[queue_id];
            assign flags_read            = flags_of[q];
            assign flags                 = flags_read;
        end
    endgenerate

    always_ff @(posedge clk)
        if (ready && ask) begin
            q                <= queue_id;
            time_now         <= now;
            sojourn_time     <= now - enqueued;
            behind           <= backlog;
            can_mark         <= ecn && capable;
            first_above_time <= first_above_time_read;
            due              <= due_read;
            count            <= count_read;
            lastcount        <= lastcount_read;
        end

    // Whether a time is below a bound of 32 bits: the borrow of one subtraction, which is one carry chain.
    function automatic logic below(input logic [TIME_WIDTH-1:0] t, input logic [31:0] bound);
        logic [32:0] difference;
        difference = {1'b0, t[31:0]} - {1'b0, bound};
        below = t >> 32 == 0 && difference[32];
    endfunction

    // Cycle 1. A time that has come: the difference is not negative. One difference is enough: in the drop
    // state drop_next is waited for, else first_above_time, which had come when the drop state began. In the
    // cycles behind it is how long ago drop_next was.
    logic [TIME_WIDTH-1:0] elapsed;
    assign elapsed = time_now - (phase == WEIGH && !flags[1] ? first_above_time : due);

    // count: in the drop state it is one more. Who enters it begins with the drop rate that the last one had
    // come to, count - lastcount, if that ended a short while ago. The two are one sum: -lastcount =
    // ~lastcount + 1.
    logic is_above, is_dropping, is_used, is_owing, is_placed;
    logic late, stands, has_come;
    logic [31:0] sum;

    always_ff @(posedge clk)
        if (phase == WEIGH) begin
            late     <= !below(sojourn_time, target);
            stands   <= behind > maxpacket;
            has_come <= !elapsed[TIME_WIDTH-1];
            sum      <= count + (flags[1] ? '0 : ~lastcount) + 1;
            {is_above, is_dropping, is_used} <= flags;
            {is_owing, is_placed}            <= place_of[q];
        end

    // Of a queue that is not above TARGET nobody reads first_above_time. So that it is there for the next
    // packet, it is written before it is known that this one is.
    always_ff @(posedge clk)
        if (phase == WEIGH && !flags[2]) first_above_time_of[q] <= time_now + TIME_WIDTH'(interval);

    // Cycle 2. Section 5.6, the second half of dodequeue. `stands` keeps a slow link busy.
    logic too_old, ok_to_drop;
    assign too_old    = late && stands;
    assign ok_to_drop = too_old && (is_dropping || (is_above && has_come));

    // Section 5.5: enter the drop state, or in it, drop `again` when drop_next has come.
    logic again;
    assign signal = ok_to_drop && has_come;
    assign again  = signal && is_dropping;
    assign answer = phase == DECIDE;
    assign mark   = answer && signal && can_mark;
    assign drop   = answer && signal && !can_mark;

    // A drop in the drop state leaves open whether drop_next moves; a mark does not. Who is owing is in that state,
    // and it goes on for what is too old.
    logic places;  // where drop_next is from now on
    logic [QUEUE_WIDTH-1:0] sweep;
    assign places = is_placed ^ (too_old && is_owing);

    always_ff @(posedge clk)
        if (phase == SWEEP) begin
            flags_of[sweep] <= '0;
            place_of[sweep] <= '0;
        end else if (phase == DECIDE) begin
            flags_of[q] <= {too_old, ok_to_drop, is_used || signal};
            place_of[q] <= {again && !can_mark, places};
        end

    // Cycles 2 to 4, after a signal: does the drop state begin with a count of 1?
    logic [TIME_WIDTH-1:0] ago;
    logic recently, has_grown, begin_at_1;
    always_ff @(posedge clk) begin
        ago       <= elapsed;
        recently  <= ago[TIME_WIDTH-1] || below(ago >> 4, interval);  // within 16 INTERVAL
        has_grown <= is_used && sum[31:1] != 0;
    end
    assign begin_at_1 = !is_dropping && !(has_grown && recently);

    // Cycles 2 to 11.
    logic law_start, law_done;
    assign law_start = phase == DECIDE && signal;
    logic [TIME_WIDTH-1:0] law_from, law_says;
    logic law_place;  // where it is written
    assign law_from = is_dropping ? due : time_now;
    always_ff @(posedge clk) if (phase == DECIDE) law_place <= places ^ (again && !can_mark);

    control_law #(.TIME_WIDTH(TIME_WIDTH)) control_law (
        .clk, .rst, .start(law_start), .count(sum), .at_1(begin_at_1), .interval,
        .t(law_from), .done(law_done), .drop_next(law_says)
    );

    logic [31:0] next_count;
    assign next_count = begin_at_1 ? 1 : sum;

    always_ff @(posedge clk)
        if (law_done) begin
            drop_next_of[PLACE'({q, law_place})] <= law_says;
            count_of[q]                  <= next_count;
            if (!is_dropping) lastcount_of[q] <= next_count;
        end

    always_ff @(posedge clk)
        if (rst) begin
            phase <= SWEEP;
            sweep <= '0;
        end else
            case (phase)
                SWEEP: begin
                    sweep <= sweep + 1;
                    if (sweep == QUEUE_WIDTH'(QUEUES - 1)) phase <= IDLE;
                end
                IDLE:    if (ask) phase <= WEIGH;
                WEIGH:   phase <= DECIDE;
                DECIDE:  phase <= signal ? CONTROL_LAW : ready && ask ? WEIGH : IDLE;
                CONTROL_LAW: if (law_done) phase <= EARLY ? WRITTEN : IDLE;
                default: phase <= IDLE;
            endcase

    // The length is for disciplines that count it.
    logic unused;
    assign unused = ^length;

`ifdef FORMAL
`include "codel_properties.svh"
`endif
endmodule
