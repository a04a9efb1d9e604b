"""Files, names and messages: helpers that know nothing of scenarios, runs or results."""
