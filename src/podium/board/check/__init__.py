"""Checks of a published bundle: records, rules, registration and integrity findings."""
