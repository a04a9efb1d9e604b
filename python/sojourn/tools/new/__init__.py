"""New programs with scenario and packet tests, made from templates."""
