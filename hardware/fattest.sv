// The flow that holds the most bytes: a tournament of all flows, played again where one has changed.
//
// A binary tree: its leaves are the flows with their bytes, every node above has the better of the two
// below it. A change climbs one level in three cycles, and one may follow another in each cycle; a level
// is a memory of its own. Of flows with equal bytes the first one wins. It must not know what a flow is.
//
// Before a flow is looked for, all of them have to be set once; `busy` while changes are on their way.
module fattest #(
    parameter int FLOWS = 1024,  // a power of two, 2 or more
    parameter int BYTES = 32,    // bits of a number of bytes
    parameter int FLOW  = $clog2(FLOWS)
) (
    input logic clk,
    input logic rst,

    input logic             change,
    input logic [ FLOW-1:0] flow,
    input logic [BYTES-1:0] bytes,  // that it holds from now on

    output logic            busy,
    output logic [FLOW-1:0] winner
);
    // What climbs, before each level and above the last: where it is, who it is and what that one has.
    // Of `place` the lowest FLOW - level bits count.
    logic [FLOW:0] climbing;
    logic [FLOW-1:0] meeting;   // who is beside it comes out of the level's memory
    logic [FLOW-1:0] weighing;  // one of the two goes on
    logic [FLOW-1:0] place[0:FLOW];
    logic [FLOW-1:0] who[0:FLOW];
    logic [BYTES-1:0] has[0:FLOW];

    assign climbing[0] = change;
    assign place[0]    = flow;
    assign who[0]      = flow;
    assign has[0]      = bytes;
    assign busy        = climbing != 0 || meeting != 0 || weighing != 0;

    genvar l;
    generate
        for (l = 0; l < FLOW; l = l + 1) begin : level
            localparam int WIDTH = FLOW - l;  // of a place
            logic [FLOW+BYTES-1:0] nodes[0:(1<<WIDTH)-1];
            logic [WIDTH-1:0] here_met, here;
            logic [FLOW-1:0] met_who, my_who, other_who;
            logic [BYTES-1:0] met_bytes, my_bytes, other_bytes;
            logic [FLOW+BYTES-1:0] beside;
            logic wins;

            always_ff @(posedge clk) begin
                if (climbing[l]) nodes[place[l][WIDTH-1:0]] <= {who[l], has[l]};
                beside    <= nodes[place[l][WIDTH-1:0]^WIDTH'(1)];
                here_met  <= place[l][WIDTH-1:0];
                met_who   <= who[l];
                met_bytes <= has[l];
            end

            always_ff @(posedge clk) begin
                {other_who, other_bytes} <= beside;
                here                     <= here_met;
                my_who                   <= met_who;
                my_bytes                 <= met_bytes;
            end

            assign wins = my_bytes > other_bytes || (my_bytes == other_bytes && !here[0]);

            always_ff @(posedge clk) begin
                place[l+1] <= FLOW'(here >> 1);
                who[l+1]   <= wins ? my_who : other_who;
                has[l+1]   <= wins ? my_bytes : other_bytes;
            end

            always_ff @(posedge clk) begin
                meeting[l]    <= !rst && climbing[l];
                weighing[l]   <= !rst && meeting[l];
                climbing[l+1] <= !rst && weighing[l];
            end
        end
    endgenerate

    always_ff @(posedge clk) if (climbing[FLOW]) winner <= who[FLOW];
endmodule
