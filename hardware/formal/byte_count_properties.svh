// What is proven of byte_count.sv, read into the module by formal.py.
integer at;
logic [WIDTH-1:0] counted;
always_comb begin
    counted = '0;
    for (at = 0; at < BYTES; at = at + 1) counted = counted + WIDTH'(keep[at]);
end
always_comb begin
    if ((keep & (keep + 1'b1)) == 0) assert (number == counted);
    if (keep != 0) assert (number != 0 && 32'(number) <= BYTES);
end
