"""Plans, the engine's threads, and the files that a run writes."""
