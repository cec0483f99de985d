"""Renders a report for the terminal, as an HTML page and as tables for papers."""
