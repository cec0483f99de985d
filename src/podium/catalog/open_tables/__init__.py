"""Tasks on real tables that come with a Python package."""
