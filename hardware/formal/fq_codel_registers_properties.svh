// What is proven of fq_codel_registers.sv, read into the module by formal.py: what is written is what is read, at the
// next question to its address, and nothing else changes it.
logic begun = 1'b0;
always_ff @(posedge clk) begun <= 1'b1;
always_comb assume (rst == !begun);

logic good;
assign good = begun && !rst;

// One register, any, by its number.
logic [2:0] one;
logic [31:0] its, was;
assign one = $anyconst;
always_comb
    case (one)
        0: its = target;
        1: its = interval;
        2: its = maxpacket;
        3: its = 32'(ecn);
        4: its = quantum;
        5: its = limit;
        6: its = seed;
        default: its = 0;
    endcase

always_ff @(posedge clk) was <= its;
always_ff @(posedge clk)
    if (good && $past(good)) begin
        if (!$past(write && s_axil_awaddr[7:2] == {3'd0, one})) assert (its == was);
        else if (one < 7 && one != 3) assert (its == $past(s_axil_wdata));
        else if (one == 3) assert (its == 32'($past(s_axil_wdata[0])));
        if ($past(read && s_axil_araddr[7:2] == {3'd0, one})) assert (s_axil_rdata == was);
        if ($past(read && s_axil_araddr[7:4] == 2)) assert (s_axil_rdata == $past(fates) && $past(read_kind == s_axil_araddr[3:2]));
        if ($past(read && s_axil_araddr[7:2] == 13)) assert (s_axil_rdata == $past(arrivals) && $past(read_kind) == 1);
    end
