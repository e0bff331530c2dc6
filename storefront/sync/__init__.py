"""Keeps a log of what changed in each shop, and answers clients that keep a copy of it, page by page and in the order
of commits. The rooms of products, customers and orders say what their records are (`feed.Source`).

It may import `shops` and `kit`. Its triggers watch tables of rooms below, by name.
"""
