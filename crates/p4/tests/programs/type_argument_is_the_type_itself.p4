// An extern does not hold itself; a struct may, as each level is a type of its own.
// expect-error: itself among its type arguments at line 6
struct Pair<T> { T first; T second; }
typedef Pair<Pair<bit<8>>> Twice;
extern Box<T> { Box(); }
Box<Box<bit<8>>>() box;
