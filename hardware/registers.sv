// What software sees, by AXI-Lite: parameters to write, counters to read. All words have 32 bits.
//
//     0x00  TARGET, ns          0x10  queue whose counters are read
//     0x04  INTERVAL, ns        0x14  queued      0x1c  sent       0x24  sent with a mark
//     0x08  MAXPACKET, bytes    0x18  refused     0x20  dropped
//     0x0c  bit 0: ECN
//
// A write where nothing can be written has no effect, a read of nothing gives 0. It must not know what the parameters do.
module registers #(
    parameter int QUEUE_WIDTH = 1
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

    output logic [QUEUE_WIDTH-1:0] read_id,
    output logic [            1:0] read_kind,
    input  logic [           31:0] arrivals,   // queued or refused, by `read_kind`
    input  logic [           31:0] decisions   // sent, dropped or marked
);
    logic write, read;
    logic [5:0] to, from;
    logic [31:0] value;
    axi_lite axi_lite (.*);

    always_ff @(posedge clk)
        if (rst) begin
            target    <= 5_000_000;    // RFC 8289 section 4.4
            interval  <= 100_000_000;  // section 4.3
            maxpacket <= 1514;         // an Ethernet frame without FCS
            ecn       <= 1'b0;
            read_id   <= '0;
        end else if (write)
            case (to)
                0: target <= s_axil_wdata;
                1: interval <= s_axil_wdata;
                2: maxpacket <= s_axil_wdata;
                3: ecn <= s_axil_wdata[0];
                4: read_id <= s_axil_wdata[QUEUE_WIDTH-1:0];
                default: ;
            endcase

    assign read_kind = from[1:0];

    always_comb
        case (from)
            0: value = target;
            1: value = interval;
            2: value = maxpacket;
            3: value = 32'(ecn);
            4: value = 32'(read_id);
            5, 6: value = arrivals;
            7, 8, 9: value = decisions;
            default: value = 0;
        endcase

`ifdef FORMAL
`include "registers_properties.svh"
`endif
endmodule
