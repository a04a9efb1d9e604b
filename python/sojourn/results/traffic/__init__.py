"""Figures of single transfers, requests and voices of a run.

`transfers` reads completion and response times, `voice` delay, jitter, loss and an estimate of
quality, `sections` shows both as tables. All depend on a run's rows alone.
"""
