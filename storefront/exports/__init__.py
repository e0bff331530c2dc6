"""Writes everything that a list has into one file, for programs that begin a copy of a large shop (R-SYNC-17 to
R-SYNC-21). The worker writes it; a signed link gives it out for a day.

It may import the rooms of products, customers and orders, and those above them.
"""
