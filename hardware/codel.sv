// CoDel (RFC 8289): whether the packet at the head of a queue is sent, marked or dropped.
//
// Stands where the queues end and the wire begins. It is asked about a packet when the wire could
// take it, and answers before the wire does: a packet that is dropped is never read from memory, so
// no slot on the wire is lost. One state for each of QUEUES queues. It must not know how packets are
// kept (queue.sv) nor what is in them.
//
//     cycle 0   `ask` and `ready`: sojourn time = now - enqueued; this queue's state is read
//     cycle 1   `answer`, with `drop` or `mark`: the comparisons, side by side; the state is written
//     cycle 2   `ready` again, or after a drop or a mark:
//     cycle 7   INTERVAL / sqrt(count) is known: drop_next is written; `ready` in cycle 8
//
// Times are in nanoseconds, of any clock that never stops, modulo 2^TIME_WIDTH: 48 bits are 78 hours.
// Comparisons are right for times up to half of that apart. (A queue that drops nothing for 39 hours
// may take its last drop state for a recent one, once.)
//
// These are the ports of every module that can stand here: see README.md, "A module of your own".
module codel #(
    parameter int QUEUES      = 1,  // 1 to 64
    parameter int TIME_WIDTH  = 48,
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
    // behind before it moves drop_next on, and does not move it if that packet ends the drop state:
    // `next_owed` is where drop_next goes if it is `owing`.
    logic [TIME_WIDTH-1:0] first_above_time_of[0:QUEUES-1];
    logic [TIME_WIDTH-1:0] drop_next_of[0:QUEUES-1];
    logic [TIME_WIDTH-1:0] next_owed_of[0:QUEUES-1];
    logic [31:0] count_of[0:QUEUES-1];
    logic [31:0] lastcount_of[0:QUEUES-1];
    logic [QUEUES-1:0] above, dropping, owing;  // above: first_above_time is set (the RFC writes 0)
    logic [QUEUES-1:0] used;  // since reset: without, count and drop_next are 0

    typedef enum logic [1:0] {
        IDLE,
        DECIDE,
        CONTROL_LAW
    } phase_t;
    phase_t phase;

    assign ready = phase == IDLE;

    // Cycle 0: the question, and the state of its queue, into registers.
    logic [QUEUE_WIDTH-1:0] q;
    logic [TIME_WIDTH-1:0] time_now, sojourn_time, first_above_time, drop_next, next_owed;
    logic [31:0] behind, count, lastcount;
    logic is_above, is_dropping, is_owing, can_mark;

    always_ff @(posedge clk)
        if (ready && ask) begin
            q                <= queue_id;
            time_now         <= now;
            sojourn_time     <= now - enqueued;
            behind           <= backlog;
            can_mark         <= ecn && capable;
            first_above_time <= first_above_time_of[queue_id];
            drop_next        <= used[queue_id] ? drop_next_of[queue_id] : '0;
            next_owed        <= next_owed_of[queue_id];
            count            <= used[queue_id] ? count_of[queue_id] : '0;
            lastcount        <= used[queue_id] ? lastcount_of[queue_id] : '0;
            is_above         <= above[queue_id];
            is_dropping      <= dropping[queue_id];
            is_owing         <= owing[queue_id];
        end

    // Cycle 1. A time that has come: the difference is not negative.
    logic [TIME_WIDTH-1:0] since_first_above, due, since_due, since_drop_next;
    assign since_first_above = time_now - first_above_time;
    assign due               = is_owing ? next_owed : drop_next;
    assign since_due         = time_now - due;
    assign since_drop_next   = time_now - drop_next;

    // Section 5.6, the second half of dodequeue. The second condition keeps a slow link busy.
    logic too_old, ok_to_drop;
    assign too_old    = sojourn_time >= TIME_WIDTH'(target) && behind > maxpacket;
    assign ok_to_drop = too_old && is_above && !since_first_above[TIME_WIDTH-1];

    // Section 5.5: enter the drop state, from the last one's drop rate if that ended a short while
    // ago; or in it, drop when drop_next has come.
    logic enter, again, recently;
    logic [31:0] delta, next_count;
    assign enter    = ok_to_drop && !is_dropping;
    assign again    = ok_to_drop && is_dropping && !since_due[TIME_WIDTH-1];
    assign recently = since_drop_next[TIME_WIDTH-1]
                      || since_drop_next < TIME_WIDTH'({interval, 4'b0000});
    assign delta    = count - lastcount;

    always_comb begin
        next_count = count + 1;
        if (enter) next_count = delta > 1 && recently ? delta : 1;
    end

    logic signal;  // congestion, by a drop or by a mark
    assign signal = enter || again;
    assign answer = phase == DECIDE;
    assign mark   = answer && signal && can_mark;
    assign drop   = answer && signal && !can_mark;

    // Cycles 2 to 7, after a signal. A drop in the drop state leaves open whether drop_next moves.
    logic law_done, leave_open;
    logic [31:0] spacing, law_count;
    logic [TIME_WIDTH-1:0] law_from;

    always_ff @(posedge clk)
        if (phase == DECIDE) begin
            law_count  <= next_count;
            law_from   <= enter ? time_now : due;
            leave_open <= again && !can_mark;
        end

    logic law_start;
    always_ff @(posedge clk) law_start <= answer && signal && !rst;

    control_law control_law (
        .clk, .rst, .start(law_start), .count(law_count), .interval, .done(law_done), .spacing
    );

    always_ff @(posedge clk)
        if (rst) phase <= IDLE;
        else
            case (phase)
                IDLE:        if (ask) phase <= DECIDE;
                DECIDE:      phase <= signal ? CONTROL_LAW : IDLE;
                CONTROL_LAW: if (law_done) phase <= IDLE;
                default:     phase <= IDLE;
            endcase

    // What is remembered.
    logic move_drop_next;
    assign move_drop_next = (phase == DECIDE && ok_to_drop) || (law_done && !leave_open);

    always_ff @(posedge clk) begin
        if (phase == DECIDE) begin
            if (too_old && !is_above) first_above_time_of[q] <= time_now + TIME_WIDTH'(interval);
            count_of[q]     <= signal ? next_count : count;
            lastcount_of[q] <= enter ? next_count : lastcount;
        end
        if (!used[q] && phase == DECIDE) drop_next_of[q] <= '0;
        else if (move_drop_next) drop_next_of[q] <= law_done ? law_from + TIME_WIDTH'(spacing) : due;
        if (law_done) next_owed_of[q] <= law_from + TIME_WIDTH'(spacing);
    end

    always_ff @(posedge clk)
        if (rst) begin
            above    <= '0;
            dropping <= '0;
            owing    <= '0;
            used     <= '0;
        end else if (phase == DECIDE) begin
            above[q]    <= too_old;
            dropping[q] <= ok_to_drop;
            owing[q]    <= again && !can_mark;
            used[q]     <= 1'b1;
        end

    // The length is for disciplines that count it.
    logic unused;
    assign unused = ^length;

`ifdef FORMAL
`include "codel_properties.svh"
`endif
endmodule
