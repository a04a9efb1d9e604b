// What is proven of fifo.sv, read into the module by formal.py: what is put in comes out, in that order, once;
// any one thing is followed. Assumed: nothing is put in if it is full, nothing is taken if it is empty.
logic begun = 1'b0;
always_ff @(posedge clk) begun <= 1'b1;
always_comb begin
    assume (rst == !begun);
    if (full) assume (!put);
    if (empty) assume (!take);
end

logic follow, followed;
logic [WIDTH-1:0] it;
logic [PLACE:0] before_it, held;  // things before it
assign follow = $anyseq;
always_ff @(posedge clk)
    if (rst) followed <= 1'b0;
    else if (followed) begin
        followed  <= !(take && before_it == 0);
        before_it <= before_it - (PLACE + 1)'(take);
    end else if (follow && put) begin
        followed  <= 1'b1;
        it        <= last;
        before_it <= held - (PLACE + 1)'(take);
    end
always_ff @(posedge clk)
    if (rst) held <= '0;
    else held <= held + (PLACE + 1)'(put) - (PLACE + 1)'(take);

logic [PLACE-1:0] its_place;
assign its_place = PLACE'(out + before_it);
always_comb
    if (begun && !rst) begin
        assert (held == in - out && held <= (PLACE + 1)'(DEPTH));
        assert (empty == (held == 0) && full == (held == (PLACE + 1)'(DEPTH)));
        if (followed) assert (before_it < held && kept[its_place] == it);
        if (followed && before_it == 0) assert (first == it);
        cover (followed && before_it == 0 && full);
    end
