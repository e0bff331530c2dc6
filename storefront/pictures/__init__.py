"""Fetches the pictures of imported products from their addresses into the shop's own storage.

May import `catalogue` and the rooms above it.
"""
