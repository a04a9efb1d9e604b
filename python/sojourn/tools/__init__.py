"""Tools for a program or a packet: checks, traces, replays, packet tests, emitted files, labs."""
