"""Recipes by kind of data: tables, texts, images, audio, series, graphs, masks and rankings."""
