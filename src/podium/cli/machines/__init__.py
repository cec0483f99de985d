"""Commands about machines."""
