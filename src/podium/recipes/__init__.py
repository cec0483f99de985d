"""Recipes: profiles of data, and scripts written for them. Knowledge of machine learning without a model."""
