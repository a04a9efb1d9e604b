// A header has no field whose size is unknown.
// expect-error: at line 6
enum Suit { Clubs, Spades }
header H {
    bit<8> f;
    Suit suit;
}
