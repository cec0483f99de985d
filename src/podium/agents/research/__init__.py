"""Research agent of MLAgentBench."""
