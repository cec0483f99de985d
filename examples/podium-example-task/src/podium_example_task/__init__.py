"""A folder of task files: `orchard.py` is a competition, `orchard.md` its brief."""
