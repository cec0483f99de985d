"""The journal of a run: typed events in a hash chain."""
