"""MLAgentBench's research agent."""
