// What is proven of registers.sv, read into the module by formal.py: what is written is what is read, at the next
// question to its address, and nothing else changes it.
logic begun = 1'b0;
always_ff @(posedge clk) begun <= 1'b1;
always_comb assume (rst == !begun);

logic good;
assign good = begun && !rst;

always_ff @(posedge clk)
    if (good && $past(good)) begin
        if (!$past(write)) assert ($stable({target, interval, maxpacket, ecn, read_id}));
        if ($past(write && s_axil_awaddr[7:2] == 0)) assert (target == $past(s_axil_wdata));
        if ($past(write && s_axil_awaddr[7:2] == 1)) assert (interval == $past(s_axil_wdata));
        if ($past(read && s_axil_araddr[7:2] == 0)) assert (s_axil_rdata == $past(target));
        if ($past(read && s_axil_araddr[7:2] == 8)) assert (s_axil_rdata == $past(decisions) && $past(read_kind) == 0);
    end
