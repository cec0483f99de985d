"""Charts, search trees, highlighted code, observations and task cards of the pages."""
