"""MLAgentBench's research agent."""

from podium.agents.research.researcher import Researcher

agent = Researcher

__all__ = ["agent"]
