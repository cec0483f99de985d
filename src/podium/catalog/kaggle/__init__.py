"""Kaggle competitions, one file each."""
