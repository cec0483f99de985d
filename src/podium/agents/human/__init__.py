"""A person in a shell."""
