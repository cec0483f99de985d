"""The kit: plain functions that scripts are put together from.

Nothing here is imported to do its work. `podium.recipes.scripts` copies the functions that a script uses, with
the imports and constants they need, so that every script stands alone. A name means one thing in the whole kit.
"""
