"""Calls to language models: retries, token limits, prices and recording."""
