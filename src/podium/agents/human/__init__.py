"""A person in a shell."""

from podium.agents.human.person import Human

agent = Human

__all__ = ["agent"]
