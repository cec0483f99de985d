"""Coding agents such as Claude Code and Codex, each described by a TOML preset."""
