"""Boards: results that others can check. Keys, bundles, a ledger that only grows, rules, pages and a service."""
