"""Scenarios, AQMs and P4 programs: the input of a run, read and checked before anything runs."""
