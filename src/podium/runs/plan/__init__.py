"""Before the first run: preflight checks, cost forecast, and starting or resuming an experiment."""
