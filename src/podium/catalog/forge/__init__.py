"""Forge: fresh competitions that no model can have seen.

Competitions to measure with are drawn from a secret, to which the id commits: `forge-FAMILY-DIFFICULTY-xHASH`.
Competitions to try things with come from a public seed: `forge-FAMILY-DIFFICULTY-SEED` is enough to make their answers.
Competitions to train with come from separate seeds, `forge-FAMILY-DIFFICULTY-tSEED`, and are never used to measure.
Preparing one draws its data, trains its field and writes both.
"""
