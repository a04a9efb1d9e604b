//! The switch as its driver sees it: packets and instants in, packets, rows and counters out.

mod bmv2;
mod conservation;
mod egress;
mod flow_control;
mod generators;
mod harness;
mod link_trace;
mod loops;
mod multithreaded;
mod native;
mod nodes;
mod pools;
mod queues;
mod setup;
