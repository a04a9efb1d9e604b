"""Queue delays that a program wrote into packets, read from a capture file."""
