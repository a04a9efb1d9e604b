// AXI-Lite, seen from the registers behind it: a write or a read, in one cycle.
//
// Every address is answered. It must not know what is at them.
module axi_lite (
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

    output logic        write,  // `s_axil_wdata` goes to word `to`
    output logic [ 5:0] to,
    output logic        read,   // `value` is what word `from` says
    output logic [ 5:0] from,
    input  logic [31:0] value
);
    assign s_axil_bresp = 2'b00;
    assign s_axil_rresp = 2'b00;
    assign to           = s_axil_awaddr[7:2];
    assign from         = s_axil_araddr[7:2];

    // A write is taken when address and data are both there and the last one's answer is not waiting.
    assign write          = s_axil_awvalid && s_axil_wvalid && (!s_axil_bvalid || s_axil_bready);
    assign s_axil_awready = write;
    assign s_axil_wready  = write;

    always_ff @(posedge clk)
        if (rst) s_axil_bvalid <= 1'b0;
        else if (write) s_axil_bvalid <= 1'b1;
        else if (s_axil_bready) s_axil_bvalid <= 1'b0;

    assign read           = s_axil_arvalid && (!s_axil_rvalid || s_axil_rready);
    assign s_axil_arready = read;

    always_ff @(posedge clk) if (read) s_axil_rdata <= value;

    always_ff @(posedge clk)
        if (rst) s_axil_rvalid <= 1'b0;
        else if (read) s_axil_rvalid <= 1'b1;
        else if (s_axil_rready) s_axil_rvalid <= 1'b0;

`ifdef FORMAL
`include "axi_lite_properties.svh"
`endif
endmodule
