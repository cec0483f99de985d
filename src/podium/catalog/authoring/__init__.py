"""Tasks made from your own data or code."""
