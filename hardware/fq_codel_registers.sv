// What software sees of fq_codel_queue.sv, by AXI-Lite: parameters to write, counters to read, of 32 bits.
//
//     0x00  TARGET, ns          0x10  QUANTUM, bytes      0x20  dropped by CoDel     0x30  (nothing)
//     0x04  INTERVAL, ns        0x14  LIMIT, packets      0x24  sent with a mark     0x34  queued
//     0x08  MAXPACKET, bytes    0x18  seed of the hash    0x28  dropped for room     0x38  refused
//     0x0c  bit 0: ECN                                    0x2c  sent
//
// A write where nothing can be written has no effect, a read of nothing gives 0. It must not know what the
// parameters do.
module fq_codel_registers #(
    parameter logic [31:0] LIMIT = 1024
) (
    input logic clk,
    input logic rst,

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
    input  logic        s_axil_rready,

    output logic [31:0] target,
    output logic [31:0] interval,
    output logic [31:0] maxpacket,
    output logic        ecn,
    output logic [31:0] quantum,
    output logic [31:0] limit,
    output logic [31:0] seed,

    output logic [ 1:0] read_kind,
    input  logic [31:0] arrivals,  // queued or refused, by `read_kind`
    input  logic [31:0] fates      // of packets that were queued
);
    logic write, read;
    logic [5:0] to, from;
    logic [31:0] value;
    axi_lite axi_lite (.*);

    always_ff @(posedge clk)
        if (rst) begin
            target    <= 5_000_000;    // RFC 8290 section 5.2.2
            interval  <= 100_000_000;  // section 5.2.1
            maxpacket <= 1514;         // an Ethernet frame without FCS
            ecn       <= 1'b0;
            quantum   <= 1514;         // section 5.2.4
            limit     <= LIMIT;
            seed      <= '0;
        end else if (write)
            case (to)
                0: target <= s_axil_wdata;
                1: interval <= s_axil_wdata;
                2: maxpacket <= s_axil_wdata;
                3: ecn <= s_axil_wdata[0];
                4: quantum <= s_axil_wdata;
                5: limit <= s_axil_wdata;
                6: seed <= s_axil_wdata;
                default: ;
            endcase

    assign read_kind = from[1:0];

    always_comb
        case (from)
            0: value = target;
            1: value = interval;
            2: value = maxpacket;
            3: value = 32'(ecn);
            4: value = quantum;
            5: value = limit;
            6: value = seed;
            8, 9, 10, 11: value = fates;
            13, 14: value = arrivals;
            default: value = 0;
        endcase

`ifdef FORMAL
`include "fq_codel_registers_properties.svh"
`endif
endmodule
