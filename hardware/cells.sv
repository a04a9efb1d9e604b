// Room for packets that leave in any order: cells of one word each, linked one to the next.
//
// The free cells are one list. A packet that comes takes them from its front, one for each word, so its own
// cells are linked already: a packet is a piece of the list of free cells, cut off. What is given back goes
// to that list's end, a whole packet in one cycle, however long it is. It must not know what a word is:
// it deals with the numbers of cells.
//
//     in     `here` is the cell for the next word. `take` it, and the next one is here in the next cycle;
//            `undo`, instead, gives back those taken since `begin_at`, the packet's first, at once.
//     out    `walk` from `from`: behind it, `at` is the cell of the word that is to be read, and goes on to the
//            next one in the cycle after `on`
//     back   the packet from cell `back_first` to `back_last`, of `back_words` cells, is free
//
// One cell is always free, the list's last: nobody takes it, so that there is always an end to link to.
// After a reset the cells are linked, one a cycle.
module cells #(
    parameter int CELLS = 2048,  // a power of two
    parameter int CELL  = $clog2(CELLS)
) (
    input logic clk,
    input logic rst,
    output logic ready,  // the cells are linked

    input  logic            take,
    input  logic            undo,
    input  logic [CELL-1:0] begin_at,
    input  logic [  CELL:0] undo_words,
    output logic [CELL-1:0] here,
    output logic [  CELL:0] free,  // cells

    input  logic            walk,
    input  logic [CELL-1:0] from,
    input  logic            on,
    output logic [CELL-1:0] at,

    input logic            back,
    input logic [CELL-1:0] back_first,
    input logic [CELL-1:0] back_last,
    input logic [  CELL:0] back_words
);
    // Two readers: two copies of the links.
    logic [CELL-1:0] next_free[0:CELLS-1];
    logic [CELL-1:0] next_word[0:CELLS-1];

    // ---- After a reset ----
    logic [CELL:0] linked;
    assign ready = linked[CELL];
    always_ff @(posedge clk)
        if (rst) linked <= '0;
        else if (!ready) linked <= linked + 1'b1;

    // ---- Back: what was the list's end links to the packet's first cell. ----
    logic [CELL-1:0] end_cell, link_at, link_to;
    logic link;
    assign link    = !ready || back;
    assign link_at = ready ? end_cell : linked[CELL-1:0];
    assign link_to = ready ? back_first : linked[CELL-1:0] + 1'b1;

    always_ff @(posedge clk)
        if (link) begin
            next_free[link_at] <= link_to;
            next_word[link_at] <= link_to;
        end

    always_ff @(posedge clk)
        if (!ready) end_cell <= CELL'(CELLS - 1);
        else if (back) end_cell <= back_last;

    // ---- In. Which cell is behind `here` is read in every cycle: it is there in the next. ----
    logic [CELL-1:0] here_before, behind_here;
    logic taken;
    assign here = taken ? behind_here : here_before;

    always_ff @(posedge clk) begin
        behind_here <= next_free[here];
        here_before <= !ready ? '0 : undo ? begin_at : here;
        taken       <= ready && take;
    end

    always_ff @(posedge clk)
        if (!ready) free <= (CELL + 1)'(CELLS);
        else free <= free - (CELL + 1)'(take) + (undo ? undo_words : '0) + (back ? back_words : '0);

    // ---- Out, likewise ----
    logic [CELL-1:0] at_before, behind_at;
    logic went_on;
    assign at = went_on ? behind_at : at_before;

    always_ff @(posedge clk) begin
        behind_at <= next_word[at];
        at_before <= walk ? from : at;
        went_on   <= on && !walk;
    end

`ifdef FORMAL
`include "cells_properties.svh"
`endif
endmodule
