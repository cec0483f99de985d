"""Whether results can be trusted: what agents did, copies, faults of tasks, contamination, and why runs fail."""
