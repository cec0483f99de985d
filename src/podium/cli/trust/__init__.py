"""Commands that check and publish results."""
