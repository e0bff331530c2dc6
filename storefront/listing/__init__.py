"""Answers reads of the catalogue: product lists and searches, single products, categories.

It never changes the catalogue. It may import `catalogue` and the rooms above it.
"""
