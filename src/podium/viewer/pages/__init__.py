"""Request handlers of the pages, one module per subject."""
