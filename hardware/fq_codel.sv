// FQ-CoDel (RFC 8290): flows in turns (DRR++), each with its own CoDel; the fattest pays if there is no room.
//
// Keeps the order of packets, not the packets: a packet is a number. It is told of each one that comes,
// with a hash of its flow, and says for every slot on the wire which one is sent; and which ones are
// dropped, by CoDel on the way to that one, or from the head of the flow with the most bytes when more
// than `limit` are held. One thing at a time, three sorts of them:
//
//     put    a packet has come; 3 cycles
//     ask    which packet is sent? 7 cycles; 2 more for each flow whose turn ends or that has become
//            empty; behind a drop CoDel wants 13 cycles (codel.sv)
//     shed   room is wanted: drop half of the fattest flow's packets, at most BATCH; 3 cycles a packet,
//            and 3 log2 FLOWS behind the last change until it is known which flow that is (fattest.sv)
//
// Each begins at `ready`, and ends with `done`. Meanwhile `answer` says something of packet `leaving`: it
// is dropped, or it is sent, marked or not, which ends an `ask`. If that ends without it, nothing is held.
//
// After a reset the flows are made empty, one a cycle.
module fq_codel #(
    parameter int FLOWS        = 1024,   // that packets are hashed into: a power of two, 2 or more
    parameter int PACKETS      = 65536,  // numbers of packets: a power of two
    parameter int BATCH        = 64,     // most packets dropped at once (section 4.1)
    parameter int TIME_WIDTH   = 48,
    parameter int PACKET_WIDTH = $clog2(PACKETS)
) (
    input logic clk,
    input logic rst,

    // Parameters (RFC 8290 section 5.2; target, interval and maxpacket as in codel.sv)
    input logic [31:0] target,
    input logic [31:0] interval,
    input logic [31:0] maxpacket,
    input logic        ecn,
    input logic [31:0] quantum,  // bytes that a flow may send in its turn: 256 to 1,000,000
    input logic [31:0] limit,    // most packets held

    // What is to be done, one of three, and when
    input  logic                  put,
    input  logic                  ask,
    input  logic                  shed,
    output logic                  ready,
    input  logic [TIME_WIDTH-1:0] now,

    // The packet that comes
    input logic [PACKET_WIDTH-1:0] arriving,
    input logic [            31:0] hash,      // of its flow
    input logic [            15:0] length,    // bytes
    input logic                    capable,   // its transport knows ECN

    // A packet that goes
    output logic                    answer,
    output logic [PACKET_WIDTH-1:0] leaving,
    output logic                    drop,
    output logic                    mark,
    output logic                    done
);
    localparam int FLOW = $clog2(FLOWS);
    localparam int BYTES = PACKET_WIDTH + 16;  // bits that count the bytes of a flow
    localparam int CREDITS = 22;               // bits of a flow's credits, with their sign

    // ---- What is kept of a flow and of a packet. Flows are linked into two lists, packets into flows. ----
    typedef struct packed {
        logic active;  // it is in one of the two lists
        logic signed [CREDITS-1:0] credits;  // bytes that it may still send in its turn, less one
        logic [PACKET_WIDTH:0] packets;
        logic [BYTES-1:0] bytes;
        logic [PACKET_WIDTH-1:0] head, tail;
    } flow_t;

    localparam int RECORD = 1 + CREDITS + (PACKET_WIDTH + 1) + BYTES + 2 * PACKET_WIDTH;

    logic [RECORD-1:0] flows[0:FLOWS-1];
    logic [FLOW-1:0] next_flow_of[0:FLOWS-1];
    logic [TIME_WIDTH+16:0] packets[0:PACKETS-1];  // when it came, its length, whether it can be marked
    logic [PACKET_WIDTH-1:0] next_packet_of[0:PACKETS-1];

    logic [FLOW-1:0] new_head, new_tail, old_head, old_tail;
    logic any_new, any_old;
    logic [PACKET_WIDTH:0] held;  // packets of all flows

    typedef enum logic [3:0] {
        SWEEP,    // after a reset
        READY,    // to be asked; the flow that it will be about is looked up
        FETCH,    // it comes out of its memory
        ENQUEUE,  // the packet goes to the tail of its flow
        ALONE,    // there is only this flow: it has to be written first
        LOOK,     // the flow whose turn it is is looked up
        PICK,     // does its turn go on, has it a packet?
        COMES,    // that comes out of its memory,
        HEAD,     // CoDel is asked about it,
        WEIGHED,  // weighs it
        DECIDED,  // and has answered
        FATTEST,  // which flow is it? It is looked up
        HALVE,    // so many of its packets
        DROP,     // are dropped, one
        AGAIN,    // after the other: the packet that is now its head is looked up
        BEHIND    // and comes
    } phase_t;
    phase_t phase, fetched_for;  // what comes behind FETCH

    // ---- Reading. A memory's answer comes in the next cycle, late in it: it goes into a register before
    //      anything is made of it. So a flow that is looked up comes in FETCH and is there behind it, and its
    //      first packet two cycles later. ----
    logic [FLOW-1:0] hand, look_at, turn, next_turn, fattest_flow;  // hand: the flow that is worked on
    logic [RECORD-1:0] flow_read;
    flow_t flow;
    logic [FLOW-1:0] next_flow_read, next_flow;
    logic [PACKET_WIDTH-1:0] next_packet_read, next_packet;
    logic [TIME_WIDTH+16:0] packet_read;
    logic [TIME_WIDTH-1:0] enqueued;
    logic [15:0] head_length;
    logic head_capable;

    assign turn = any_new ? new_head : old_head;

    always_comb
        case (phase)
            READY:   look_at = put ? hash[FLOW-1:0] : turn;
            LOOK:    look_at = turn;
            FATTEST: look_at = fattest_flow;
            default: look_at = next_turn;  // PICK: it may be needed
        endcase

    always_ff @(posedge clk) begin
        // Not in the cycles in which they are written: nobody has to say what is read then.
        if (phase == READY || phase == LOOK || phase == FATTEST || phase == PICK) begin
            flow_read      <= flows[look_at];
            next_flow_read <= next_flow_of[look_at];
        end
        if (phase == PICK || phase == HALVE || phase == AGAIN) begin
            next_packet_read <= next_packet_of[flow.head];
            packet_read      <= packets[flow.head];
        end
        next_packet <= next_packet_read;
        {enqueued, head_length, head_capable} <= packet_read;
    end

    // ---- What was asked ----
    logic putting;
    logic [PACKET_WIDTH-1:0] packet;
    logic [15:0] packet_length;
    logic [TIME_WIDTH-1:0] time_now;  // of the question: one clock reading for all that it takes

    assign ready = phase == READY;

    always_ff @(posedge clk)
        if (ready) begin
            putting       <= put;
            packet        <= arriving;
            packet_length <= length;
            time_now      <= now;
        end

    always_ff @(posedge clk) if (ready && put) packets[arriving] <= {now, length, capable};

    // ---- CoDel. A flow that has become empty is not above TARGET: it is told so by a packet that has not
    //      waited and has nothing behind it. ----
    logic codel_ready, codel_answer, codel_drop, codel_mark, spent, empty, leave;
    assign spent = flow.credits[CREDITS-1];  // exactly zero is a quantum sent, too; less one, that is below zero
    assign empty = flow.packets == 0;
    assign leave = phase == PICK && (any_new || any_old) && !spent && empty && codel_ready;

    codel #(.QUEUES(FLOWS), .TIME_WIDTH(TIME_WIDTH), .EARLY(1'b1)) codel (
        .clk, .rst, .target, .interval, .maxpacket, .ecn,
        .ask(phase == HEAD || leave), .ready(codel_ready), .queue_id(hand), .now(time_now),
        .enqueued(phase == HEAD ? enqueued : time_now),
        .backlog(phase == HEAD ? 32'(flow.bytes - BYTES'(head_length)) : 32'd0),
        .length(head_length), .capable(head_capable),
        .answer(codel_answer), .drop(codel_drop), .mark(codel_mark)
    );

    // ---- The lists (section 4.2). A flow that begins is new. A new one that has become empty or has sent its
    //      quantum goes to the end of the old ones, so that nobody is new for ever. ----
    logic begins, rotate, pop, append;
    assign begins = phase == ENQUEUE && !flow.active;
    assign rotate = phase == PICK && (any_new || any_old) && spent;
    assign pop    = rotate || leave;
    assign append = rotate || (leave && any_new);  // to the old ones

    logic last_new, last_old;  // it is the only one of its list
    assign last_new = new_head == new_tail;
    assign last_old = old_head == old_tail;

    // Whose turn is next if it is no longer the one's whose turn it is. If nobody else is there, it is looked up
    // when that one has been written.
    logic alone;
    assign alone = any_new ? last_new && !any_old : last_old;
    assign next_turn = any_new && last_new ? old_head : next_flow;

    always_ff @(posedge clk)
        if (rst) hand <= '0;
        else
            case (phase)
                SWEEP:                hand <= hand + 1'b1;
                READY, LOOK, FATTEST: hand <= look_at;
                PICK:                 if (pop) hand <= look_at;
                default:              ;
            endcase

    // A flow whose turn has ended is written a cycle later, behind the one that was looked up meanwhile. If that
    // is the one to which it is linked, what is read of it is old: behind it is now the last of the old ones.
    logic ended, ends, ended_new, linked, just_linked;
    logic [FLOW-1:0] ended_flow, link_from;
    assign ends = ended && (phase == FETCH || phase == ALONE);

    always_ff @(posedge clk) begin
        ended       <= pop && !rst;
        ended_new   <= any_new;
        ended_flow  <= hand;
        linked      <= append && any_old;
        link_from   <= old_tail;
        just_linked <= append && any_old && next_turn == old_tail;
        if (phase == FETCH) next_flow <= just_linked ? old_tail : next_flow_read;
    end

    always_ff @(posedge clk)
        if (rst) begin
            any_new <= 1'b0;
            any_old <= 1'b0;
        end else if (begins) any_new <= 1'b1;
        else if (pop) begin
            if (any_new) any_new <= !last_new;
            any_old <= append || (any_old && !last_old);
        end

    always_ff @(posedge clk)
        if (begins) begin
            if (!any_new) new_head <= hand;
            new_tail <= hand;
        end else if (pop) begin
            if (any_new) new_head <= next_flow;
            else if (!last_old) old_head <= next_flow;
            if (append && !any_old) old_head <= hand;
            if (append) old_tail <= hand;
        end

    always_ff @(posedge clk)
        if (begins ? any_new : ends && linked) next_flow_of[begins ? new_tail : link_from] <= begins ? hand : ended_flow;

    // ---- The flow as it is from now on ----
    flow_t changed;
    logic change, goes;  // goes: its head does
    assign goes   = (phase == DECIDED) || (phase == DROP);
    assign change = phase == SWEEP || phase == ENQUEUE || goes;  // of its bytes, too

    always_comb begin
        changed = flow;
        case (phase)
            SWEEP: changed = '0;
            ENQUEUE: begin
                changed.active = 1'b1;
                if (!flow.active) changed.credits = CREDITS'(quantum) - 1'b1;
                changed.packets = flow.packets + 1'b1;
                changed.bytes   = flow.bytes + BYTES'(packet_length);
                changed.tail    = packet;
                if (empty) changed.head = packet;
            end
            FETCH, ALONE: begin  // it is `ended_flow`
                if (spent) changed.credits = flow.credits + CREDITS'(quantum);
                else changed.active = ended_new;
            end
            default: begin
                changed.head    = next_packet;
                changed.packets = flow.packets - 1'b1;
                changed.bytes   = flow.bytes - BYTES'(head_length);
                if (phase == DECIDED && !codel_drop) changed.credits = flow.credits - CREDITS'(head_length);
            end
        endcase
    end

    always_ff @(posedge clk) if (change || ends) flows[ends ? ended_flow : hand] <= changed;
    always_ff @(posedge clk)
        if (phase == FETCH) flow <= flow_read;
        else if (phase == DROP) flow <= changed;
    always_ff @(posedge clk) if (phase == ENQUEUE && !empty) next_packet_of[flow.tail] <= packet;

    always_ff @(posedge clk)
        if (rst) held <= '0;
        else held <= held + (PACKET_WIDTH + 1)'(phase == ENQUEUE) - (PACKET_WIDTH + 1)'(goes);

    // ---- No room: the fattest flow (section 4.1) ----
    logic fattest_busy, last_of_batch;
    logic [PACKET_WIDTH:0] half;
    logic [$clog2(BATCH+1)-1:0] batch;  // packets that are still to be dropped

    fattest #(.FLOWS(FLOWS), .BYTES(BYTES)) fattest (
        .clk, .rst, .change, .flow(hand), .bytes(changed.bytes), .busy(fattest_busy), .winner(fattest_flow)
    );

    // Whether more than `limit` are held with the packet that comes, and without one that is dropped: told a cycle
    // before, in which the number held stands.
    logic over, still_over;
    always_ff @(posedge clk) begin
        over       <= 32'(held) >= limit;
        still_over <= putting && 32'(held) - 1 > limit;
    end

    assign half          = (flow.packets + 1'b1) >> 1;
    assign last_of_batch = batch == 1;

    always_ff @(posedge clk)
        if (phase == HALVE) batch <= half < (PACKET_WIDTH + 1)'(BATCH) ? ($clog2(BATCH + 1))'(half) : ($clog2(BATCH + 1))'(BATCH);
        else if (phase == DROP) batch <= batch - 1'b1;

    // ---- What is said ----
    assign answer  = goes;
    assign leaving = flow.head;
    assign drop    = phase == DROP || codel_drop;
    assign mark    = phase == DECIDED && codel_mark;

    always_comb
        case (phase)
            ENQUEUE: done = !over;
            PICK:    done = !(any_new || any_old);
            DECIDED: done = !codel_drop;
            HALVE:   done = empty;
            DROP:    done = last_of_batch && !still_over;
            default: done = 1'b0;
        endcase

    // ---- What comes next ----
    always_ff @(posedge clk)
        if (rst) phase <= SWEEP;
        else if (done) phase <= READY;
        else
            case (phase)
                SWEEP:   if (hand == FLOW'(FLOWS - 1)) phase <= READY;
                READY:   if (put || ask) phase <= FETCH; else if (shed) phase <= FATTEST;
                FETCH:   phase <= fetched_for;
                ENQUEUE: phase <= FATTEST;
                ALONE:   phase <= LOOK;
                LOOK:    phase <= FETCH;
                PICK:    if (pop) phase <= alone ? ALONE : FETCH; else if (!spent && !empty) phase <= COMES;
                COMES:   phase <= HEAD;
                HEAD:    if (codel_ready) phase <= WEIGHED;
                WEIGHED: phase <= DECIDED;
                DECIDED: phase <= LOOK;
                FATTEST: if (!fattest_busy) phase <= FETCH;
                HALVE:   phase <= BEHIND;
                DROP:    phase <= last_of_batch ? FATTEST : AGAIN;
                AGAIN:   phase <= BEHIND;
                default: phase <= DROP;
            endcase

    always_ff @(posedge clk)
        case (phase)
            READY:   fetched_for <= put ? ENQUEUE : PICK;
            FATTEST: fetched_for <= HALVE;
            default: ;
        endcase
endmodule
