"""Keeps a log of the changes in each shop, and answers clients that keep a copy of it, page by page and in the order of
commits. The rooms of products, customers and orders define their records (`feed.Source`).

May import `shops` and `kit`. Its triggers watch tables of rooms below, by name.
"""
