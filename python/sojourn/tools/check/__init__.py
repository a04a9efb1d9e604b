"""Diagnostics of a P4 program, with pictures of its stages and its state."""
