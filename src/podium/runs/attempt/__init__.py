"""One process working on a run: opens it, runs the loop, grades the result."""
