// What is proven of counter.sv, read into the module by formal.py: one value, of any kind of any queue,
// is how often that was counted since the reset.
logic begun = 1'b0;
always_ff @(posedge clk) begun <= 1'b1;
always_comb assume (rst == !begun);

logic [NUMBER-1:0] one;
logic [31:0] times;
assign one = $anyconst;
always_comb begin
    assume (32'(one) < QUEUES * KINDS && 32'(queue_id) < QUEUES && 32'(read_id) < QUEUES);
    if (clearing) assume (!count);
end
always_ff @(posedge clk)
    if (rst) times <= 0;
    else if (count && number == one) times <= times + 1;

always_comb
    if (begun && !rst) begin
        if (clearing) assert (32'(cleared) < QUEUES * KINDS && times == 0);
        if (!clearing || cleared > one) assert (counted[one] == times);
        if (!clearing && read_number == one) assert (value == times);
    end

// Clearing ends: each cycle of it is another number.
always_ff @(posedge clk)
    if (begun && !rst && $past(begun && !rst)) begin
        if ($past(clearing)) assert (!clearing || cleared == $past(cleared) + 1);
        else assert (!clearing);
    end
