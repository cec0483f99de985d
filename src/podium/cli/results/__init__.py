"""Commands that show results."""
