// What is proven of axi_lite.sv, read into the module by formal.py: each AXI-Lite question is answered once, the
// answer stays until it is taken, and it is what the registers said.
logic begun = 1'b0;
always_ff @(posedge clk) begun <= 1'b1;
always_comb assume (rst == !begun);

logic good;
assign good = begun && !rst;

// Questions less answers: never more than one open, and that one is being answered.
logic [1:0] writes_open, reads_open;
always_ff @(posedge clk)
    if (rst) {writes_open, reads_open} <= '0;
    else begin
        writes_open <= writes_open + 2'(s_axil_awvalid && s_axil_awready) - 2'(s_axil_bvalid && s_axil_bready);
        reads_open  <= reads_open + 2'(s_axil_arvalid && s_axil_arready) - 2'(s_axil_rvalid && s_axil_rready);
    end

always_comb
    if (good) begin
        assert (s_axil_awready == s_axil_wready);
        assert (writes_open == 2'(s_axil_bvalid) && reads_open == 2'(s_axil_rvalid));
        // No deadlock: what is asked while the last answer is taken is taken, too.
        if (s_axil_awvalid && s_axil_wvalid && (!s_axil_bvalid || s_axil_bready)) assert (s_axil_awready && write);
        if (s_axil_arvalid && (!s_axil_rvalid || s_axil_rready)) assert (s_axil_arready && read);
    end

always_ff @(posedge clk)
    if (good && $past(good)) begin
        if ($past(s_axil_bvalid && !s_axil_bready)) assert (s_axil_bvalid);
        if ($past(s_axil_rvalid && !s_axil_rready)) assert (s_axil_rvalid && $stable(s_axil_rdata));
        if ($past(read)) assert (s_axil_rdata == $past(value));
    end
