// Output queues with CoDel, to be put before a port: AXI-Stream in, AXI-Stream out, AXI-Lite beside.
//
// Where NetFPGA SUME and Corundum have their output queues: 256 bits at 200 MHz are 51.2 Gbit/s, of
// which a 10 Gbit/s port takes a fifth by its `m_axis_tready`. This file only connects: the queues are
// in queue.sv, the decisions in codel.sv, what software sees in registers.sv.
module codel_queue #(
    parameter int DATA_WIDTH  = 256,   // bits a cycle: 256 or more, a power of two
    parameter int CYCLE       = 5,     // ns a cycle: 5 is 200 MHz
    parameter int QUEUES      = 1,     // 1 to 64
    parameter int WORDS       = 2048,  // of memory for each queue, a power of two: 64 KB
    parameter int TIME_WIDTH  = 48,
    parameter int QUEUE_WIDTH = QUEUES > 1 ? $clog2(QUEUES) : 1
) (
    input logic clk,
    input logic rst,

    // Packets that come: `tdest` is the queue
    input  logic [  DATA_WIDTH-1:0] s_axis_tdata,
    input  logic [DATA_WIDTH/8-1:0] s_axis_tkeep,
    input  logic                    s_axis_tlast,
    input  logic                    s_axis_tvalid,
    input  logic [ QUEUE_WIDTH-1:0] s_axis_tdest,
    output logic                    s_axis_tready,

    // Packets that leave: `tuser` is when they were enqueued, in ns
    output logic [  DATA_WIDTH-1:0] m_axis_tdata,
    output logic [DATA_WIDTH/8-1:0] m_axis_tkeep,
    output logic                    m_axis_tlast,
    output logic                    m_axis_tvalid,
    output logic [ QUEUE_WIDTH-1:0] m_axis_tdest,
    output logic [  TIME_WIDTH-1:0] m_axis_tuser,
    input  logic                    m_axis_tready,

    // Software: see registers.sv
    input  logic [ 7:0] s_axil_awaddr,
    input  logic        s_axil_awvalid,
    output logic        s_axil_awready,
    input  logic [31:0] s_axil_wdata,
    input  logic        s_axil_wvalid,
    output logic        s_axil_wready,
    output logic [ 1:0] s_axil_bresp,
    output logic        s_axil_bvalid,
    input  logic        s_axil_bready,
    input  logic [ 7:0] s_axil_araddr,
    input  logic        s_axil_arvalid,
    output logic        s_axil_arready,
    output logic [31:0] s_axil_rdata,
    output logic [ 1:0] s_axil_rresp,
    output logic        s_axil_rvalid,
    input  logic        s_axil_rready
);
    logic [TIME_WIDTH-1:0] now;
    always_ff @(posedge clk) now <= rst ? '0 : now + TIME_WIDTH'(CYCLE);

    logic [31:0] target, interval, maxpacket;
    logic ecn;

    logic ask, ready, ask_capable, answer, drop, mark;
    logic [QUEUE_WIDTH-1:0] ask_queue;
    logic [TIME_WIDTH-1:0] ask_enqueued;
    logic [31:0] ask_backlog;
    logic [15:0] ask_length;

    logic was_queued, was_refused, was_sent, was_dropped, was_marked;
    logic [QUEUE_WIDTH-1:0] arrival_queue, decision_queue;

    // Nothing happens before the counters are cleared.
    logic clearing, hold;
    assign hold = rst || clearing;

    queue #(.DATA_WIDTH(DATA_WIDTH), .QUEUES(QUEUES), .WORDS(WORDS), .TIME_WIDTH(TIME_WIDTH)) queue (.rst(hold), .*);

    codel #(.QUEUES(QUEUES), .TIME_WIDTH(TIME_WIDTH)) codel (
        .clk, .rst(hold), .target, .interval, .maxpacket, .ecn,
        .ask, .ready, .queue_id(ask_queue), .now, .enqueued(ask_enqueued), .backlog(ask_backlog),
        .length(ask_length), .capable(ask_capable), .answer, .drop, .mark
    );

    // Two things can happen in a cycle, one of each sort. A kind is what its register's address ends
    // with (registers.sv).
    logic [QUEUE_WIDTH-1:0] read_id;
    logic [1:0] read_kind;
    logic [31:0] arrivals, decisions;

    registers #(.QUEUE_WIDTH(QUEUE_WIDTH)) registers (.*);

    // They are counted a cycle later: whether there was room is known late.
    logic arrived, decided;
    logic [1:0] arrived_kind, decided_kind;
    logic [QUEUE_WIDTH-1:0] arrived_queue, decided_queue;
    always_ff @(posedge clk) begin
        arrived       <= !rst && (was_queued || was_refused);
        arrived_kind  <= was_refused ? 2'd2 : 2'd1;
        arrived_queue <= arrival_queue;
        decided       <= !rst && (was_sent || was_dropped);
        decided_kind  <= was_dropped ? 2'd0 : was_marked ? 2'd1 : 2'd3;
        decided_queue <= decision_queue;
    end

    counter #(.QUEUES(QUEUES)) count_arrivals (
        .clk, .rst, .count(arrived), .queue_id(arrived_queue), .kind(arrived_kind),
        .read_id, .read_kind, .value(arrivals), .clearing
    );
    counter #(.QUEUES(QUEUES)) count_decisions (
        .clk, .rst, .count(decided), .queue_id(decided_queue), .kind(decided_kind),
        .read_id, .read_kind, .value(decisions), .clearing()
    );
endmodule
