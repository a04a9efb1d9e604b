// What is proven of cells.sv, read into the module by formal.py: no cell is lost, none is in two lists, a packet's
// cells stay linked in the order in which its words came, and who walks along them finds each, for any order in
// which packets come, are given up half-way, are read and are given back.
//
// Beside the module a ledger says of each cell whose it is and which one of that list; it is moved by what is asked
// of the module, not by its links.

// ---- The ledger ----
localparam int OWNER = CELL + 2;  // bits: a packet, by its first cell, or one of
localparam logic [OWNER-1:0] FREE = 1 << CELL;
localparam logic [OWNER-1:0] COMING = 2 << CELL;
localparam int RANK = CELL + 2;

logic begun = 1'b0;
always_ff @(posedge clk) begun <= 1'b1;
always_comb assume (rst == !begun);
logic good;
assign good = begun && !rst;

logic [CELLS*OWNER-1:0] owners;
logic [CELLS*RANK-1:0] ranks;    // places in a list; of the free ones, from `front` on
logic [CELLS*CELL-1:0] lasts;    // of a packet, by its first cell: its last one,
logic [CELLS*RANK-1:0] sizes;    // and how many it has
logic [RANK-1:0] front, words;   // words: of the packet that is coming
logic [CELL-1:0] first_coming, first_now;
assign first_now = words == 0 ? here : first_coming;

function automatic logic [OWNER-1:0] owner(input logic [CELL-1:0] c);
    owner = owners[OWNER*c+:OWNER];
endfunction
function automatic logic [RANK-1:0] rank(input logic [CELL-1:0] c);
    rank = ranks[RANK*c+:RANK];
endfunction
function automatic logic is_packet(input logic [CELL-1:0] c);
    is_packet = owner(c) == OWNER'(c) && rank(c) == 0;
endfunction

// ---- What is assumed: who asks keeps to what cells.sv says ----
logic whole, walking;  // the word that is taken is a packet's last; a packet is being walked along
logic [CELL-1:0] walked;
logic [RANK-1:0] step;
assign whole = $anyseq;
always_comb begin
    if (!ready || rst) assume (!take && !undo && !back && !walk && !on);
    if (take) assume (free > 1 && !undo);
    if (undo) assume (begin_at == first_now && undo_words == (CELL + 1)'(words));
    if (back) assume (is_packet(back_first) && back_last == lasts[CELL*back_first+:CELL]);
    if (back) assume (back_words == (CELL + 1)'(sizes[RANK*back_first+:RANK]));
    if (back) assume (!(walking && walked == back_first) && !(walk && from == back_first));
    if (walk) assume (is_packet(from));
    if (on) assume (walking);
end

integer c;
always_ff @(posedge clk)
    if (rst) begin
        for (c = 0; c < CELLS; c = c + 1) begin
            owners[OWNER*c+:OWNER] <= FREE;
            ranks[RANK*c+:RANK]    <= RANK'(c);
        end
        front   <= '0;
        words   <= '0;
        walking <= 1'b0;
    end else begin
        for (c = 0; c < CELLS; c = c + 1)
            if (take && here == CELL'(c)) begin
                owners[OWNER*c+:OWNER] <= whole ? OWNER'(first_now) : COMING;
                ranks[RANK*c+:RANK]    <= words;
            end else if (owner(CELL'(c)) == COMING && take && whole) owners[OWNER*c+:OWNER] <= OWNER'(first_now);
            else if (owner(CELL'(c)) == COMING && undo) begin
                owners[OWNER*c+:OWNER] <= FREE;
                ranks[RANK*c+:RANK]    <= front - words + rank(CELL'(c));
            end else if (back && owner(CELL'(c)) == OWNER'(back_first)) begin
                owners[OWNER*c+:OWNER] <= FREE;
                ranks[RANK*c+:RANK]    <= front + RANK'(free) + rank(CELL'(c));
            end
        if (take) begin
            front        <= front + 1'b1;
            words        <= whole ? '0 : words + 1'b1;
            first_coming <= first_now;
            if (whole) lasts[CELL*first_now+:CELL] <= here;
            if (whole) sizes[RANK*first_now+:RANK] <= words + 1'b1;
        end else if (undo) begin
            front <= front - words;
            words <= '0;
        end
        if (walk) begin
            walking <= 1'b1;
            walked  <= from;
            step    <= '0;
        end else if (on) begin
            walking <= step + 1'b1 != sizes[RANK*walked+:RANK];
            step    <= step + 1'b1;
        end
    end

// ---- What is proven ----
// Of each cell, by its owner: it is where its list says, and linked to the one behind it.
genvar g, h;
generate
    for (g = 0; g < CELLS; g = g + 1) begin : each
        logic [OWNER-1:0] its;
        logic [RANK-1:0] place, size;
        logic [CELL-1:0] behind;
        assign its    = owner(CELL'(g));
        assign place  = rank(CELL'(g)) - (its == FREE ? front : '0);
        assign size   = its == FREE ? RANK'(free) : its == COMING ? words : sizes[RANK*its[CELL-1:0]+:RANK];
        assign behind = next_free[g];

        always_comb
            if (good) begin
                if (linked > (CELL + 1)'(g)) assert (next_free[g] == next_word[g]);
                if (!ready) begin
                    assert (its == FREE && rank(CELL'(g)) == RANK'(g));
                    if (linked > (CELL + 1)'(g)) assert (behind == CELL'(g + 1));
                end else begin
                    assert (its == FREE || its == COMING || is_packet(its[CELL-1:0]));
                    assert (its[OWNER-1:CELL] != 3 && (its[OWNER-1:CELL] == 0 || its[CELL-1:0] == 0));
                    assert (place < size && size <= CELLS);
                    // Linked to the one behind it; the last word of one that comes, to the next free cell.
                    if (place + 1'b1 < size) assert (owner(behind) == its && rank(behind) == rank(CELL'(g)) + 1'b1);
                    if (its == COMING && place + 1'b1 == size) assert (behind == here);
                    // The list's ends
                    if (its == FREE) assert ((place == 0) == (here == CELL'(g)) && (place + 1'b1 == size) == (end_cell == CELL'(g)));
                    if (its == COMING) assert ((place == 0) == (first_coming == CELL'(g)));
                    if (its[OWNER-1:CELL] == 0)
                        assert ((place + 1'b1 == size) == (lasts[CELL*its[CELL-1:0]+:CELL] == CELL'(g)));
                end
            end
        // No two are at one place of one list.
        for (h = 0; h < g; h = h + 1) begin : other
            always_comb if (good && ready) assert (its != owner(CELL'(h)) || rank(CELL'(g)) != rank(CELL'(h)));
        end
    end
endgenerate

// As many are free as `free` says, none is lost, and one is left always.
logic [CELL:0] are_free, are_coming;
integer k;
always_comb begin
    are_free   = '0;
    are_coming = '0;
    for (k = 0; k < CELLS; k = k + 1) begin
        are_free   = are_free + (CELL + 1)'(owner(CELL'(k)) == FREE);
        are_coming = are_coming + (CELL + 1)'(owner(CELL'(k)) == COMING);
    end
end

always_comb
    if (good) begin
        assert (linked <= (CELL + 1)'(CELLS));
        if (linked != 0) assert (ready || (free == CELLS && end_cell == CELL'(CELLS - 1) && here == 0));
        if (!ready) assert (front == 0 && words == 0 && !walking);
        if (ready) begin
            assert (free == are_free && free >= 1 && words == RANK'(are_coming));
            assert (owner(here) == FREE && rank(here) == front);
            assert (owner(end_cell) == FREE && RANK'(rank(end_cell) - front) == RANK'(free) - 1'b1);
            if (words != 0) assert (owner(first_coming) == COMING && rank(first_coming) == 0);
            // Who walks finds each word of the packet, in order.
            if (walking) assert (owner(at) == OWNER'(walked) && rank(at) == step && step < sizes[RANK*walked+:RANK]);
        end
    end

// Not proven of nothing: all of this can come.
always_comb
    if (good && ready) begin
        cover (free == 1);
        cover (back && undo && words == 2);
        cover (back && take && free == 2);
        cover (walking && step == 1 && at < walked);
    end
