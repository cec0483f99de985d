"""Models, cross-validation and ensembles."""
