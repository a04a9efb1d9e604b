// Plain and serialisable enumerations: comparison, implicit cast, values without a name.
// expect: ok
// input: raw=5
// output: same=true next=0x0801 named=false text=2 mask=0x08
enum Suit { Clubs, Diamonds, Hearts, Spades }
enum bit<16> EtherType { IPv4 = 0x0800, ARP = 0x0806, Also = 0x0800 }
enum bit<8> Small { One = 1, Two = 2 }
struct S { bit<8> raw; bool same; bit<16> next; bool named; bit<8> text; bit<8> mask; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        Suit suit = Suit.Hearts;
        s.same = suit == Suit.Hearts && EtherType.IPv4 == EtherType.Also;
        s.next = EtherType.IPv4 + 1;
        Small e = (Small)s.raw;
        s.named = e == Small.One || e == Small.Two;
        s.text = Small.Two;
        s.mask = 8w1 << Small.Two + Small.One;
    }
}
Main(C()) main;
