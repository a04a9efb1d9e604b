// #error stops the program with its own words.
// expect-error: intervals of zero at line 5
#define INTERVAL 0
#if INTERVAL == 0
#error intervals of zero make no sense
#endif
