// The near name is suggested.
// expect-error: Hearts at line 10
enum Suit { Clubs, Diamonds, Hearts, Spades }
struct S { bool b; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        Suit suit = Suit.Clubs;
        s.b = suit == Suit.Haerts;
    }
}
Main(C()) main;
