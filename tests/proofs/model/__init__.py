"""A reference model of the engine in plain Python, and a machine that drives both and compares."""
