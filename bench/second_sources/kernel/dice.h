/* The numbers that Sojourn's disciplines throw: PCG-XSH-RR with 128 bits of state.
 *
 * For the drivers of the kernel's qdiscs; it knows none of them. */

typedef unsigned __int128 wide;
static wide state;

static u64 draw(void)
{
    const wide multiplier = (wide)0x2360ed051fc65da4 << 64 | 0x4385df649fccf645;
    const wide increment = ((wide)0x2fe0e169ffbd06e3 << 64 | 0x5bc307bd4d2f814f) << 1 | 1;
    wide old = state;
    u64 shifted = (u64)(((old >> 29) ^ old) >> 58);
    unsigned int turn = (unsigned int)(old >> 122);

    state = old * multiplier + increment;
    return shifted >> turn | shifted << (-turn & 63);
}

static void throw_from(u64 seed)
{
    draw();
    state += seed;
    draw();
}
