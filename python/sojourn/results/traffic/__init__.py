"""What single transfers, requests and voices got of a run, beside what its queues did.

`transfers` reads completion and response times, `voice` delay, jitter, loss and an estimate of
quality, `sections` shows both as tables. All stand on a run's rows alone.
"""
