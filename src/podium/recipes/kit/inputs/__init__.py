"""Numeric features of tables, texts, images, audio, series and graphs."""
