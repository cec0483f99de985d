"""File formats of competition data."""
