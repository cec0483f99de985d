"""The kit: plain functions that scripts are assembled from.

Scripts do not import it. `podium.recipes.script_writer` copies the functions that a script uses into it, with the
imports and constants they need, so that every script runs on its own. A name has one meaning in the whole kit.
"""
