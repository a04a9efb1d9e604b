// An output queue with FQ-CoDel, to be put before a port: AXI-Stream in, AXI-Stream out, AXI-Lite beside.
//
// In the place of codel_queue.sv, and for one port. This file only connects: the packets are in fq_queue.sv,
// the decisions in fq_codel.sv, what software sees in fq_codel_registers.sv.
module fq_codel_queue #(
    parameter int DATA_WIDTH = 256,   // bits a cycle: 256 or more, a power of two
    parameter int CYCLE      = 5,     // ns a cycle: 5 is 200 MHz
    parameter int FLOWS      = 1024,  // a power of two, 2 or more
    parameter int CELLS      = 2048,  // words of memory, a power of two: 64 KB
    parameter int ROOM       = 320,   // cells that are kept free (fq_queue.sv)
    parameter int BATCH      = 64,    // most packets dropped at once for room
    parameter int TIME_WIDTH = 48
) (
    input logic clk,
    input logic rst,

    // Packets that come
    input  logic [  DATA_WIDTH-1:0] s_axis_tdata,
    input  logic [DATA_WIDTH/8-1:0] s_axis_tkeep,
    input  logic                    s_axis_tlast,
    input  logic                    s_axis_tvalid,
    output logic                    s_axis_tready,

    // Packets that leave: `tuser` is when they were enqueued, in ns
    output logic [  DATA_WIDTH-1:0] m_axis_tdata,
    output logic [DATA_WIDTH/8-1:0] m_axis_tkeep,
    output logic                    m_axis_tlast,
    output logic                    m_axis_tvalid,
    output logic [  TIME_WIDTH-1:0] m_axis_tuser,
    input  logic                    m_axis_tready,

    // Software: see fq_codel_registers.sv
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

    logic [31:0] target, interval, maxpacket, quantum, limit, seed;
    logic ecn;

    logic put, ask, shed, ready, capable, answer, drop, mark;
    logic [$clog2(CELLS)-1:0] arriving, leaving;
    logic [31:0] hash;
    logic [15:0] length;

    logic was_queued, was_refused, was_sent, was_dropped, was_marked, was_shed;

    // Nothing happens before the counters are cleared.
    logic clearing, hold;
    assign hold = rst || clearing;

    fq_queue #(.DATA_WIDTH(DATA_WIDTH), .CELLS(CELLS), .ROOM(ROOM), .TIME_WIDTH(TIME_WIDTH)) fq_queue (
        .rst(hold), .*
    );

    fq_codel #(.FLOWS(FLOWS), .PACKETS(CELLS), .BATCH(BATCH), .TIME_WIDTH(TIME_WIDTH)) fq_codel (
        .clk, .rst(hold), .target, .interval, .maxpacket, .ecn, .quantum, .limit,
        .put, .ask, .shed, .ready, .now, .arriving, .hash, .length, .capable,
        .answer, .leaving, .drop, .mark, .done()
    );

    // Two things can happen in a cycle, one of each sort. A kind is what its register's address ends with.
    logic [1:0] read_kind;
    logic [31:0] arrivals, fates;

    fq_codel_registers #(.LIMIT(CELLS / 2)) registers (.*);

    logic arrived, decided;
    logic [1:0] arrived_kind, decided_kind;
    always_ff @(posedge clk) begin
        arrived      <= !rst && (was_queued || was_refused);
        arrived_kind <= was_refused ? 2'd2 : 2'd1;
        decided      <= !rst && (was_sent || was_dropped || was_shed);
        decided_kind <= was_dropped ? 2'd0 : was_marked ? 2'd1 : was_shed ? 2'd2 : 2'd3;
    end

    counter count_arrivals (
        .clk, .rst, .count(arrived), .queue_id(1'b0), .kind(arrived_kind), .read_id(1'b0), .read_kind,
        .value(arrivals), .clearing
    );
    counter count_fates (
        .clk, .rst, .count(decided), .queue_id(1'b0), .kind(decided_kind), .read_id(1'b0), .read_kind,
        .value(fates), .clearing()
    );
endmodule
