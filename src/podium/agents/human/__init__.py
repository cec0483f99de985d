"""Agent `human`: a person in a shell."""
