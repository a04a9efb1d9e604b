// What a program says about itself: claims and messages.
#ifndef SOJOURN_V1MODEL_WATCH_P4
#define SOJOURN_V1MODEL_WATCH_P4

// A claim that does not hold ends the pass: the packet is dropped and the run reports it. (bmv2
// itself stops.)
extern void assert(in bool check);
extern void assume(in bool check);

// A line for the log; each {} is the next value of the data.
extern void log_msg(string msg);
extern void log_msg<T>(string msg, in T data);

#endif
