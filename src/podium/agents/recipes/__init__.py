"""The agent that needs no model: recipes of machine learning that read the data's profile and write scripts."""
