"""Exports a whole list into one file, for programs that begin a copy of a large shop (R-SYNC-17 to R-SYNC-21). The
worker writes the file, which can be downloaded for a day by a signed link.

May import the rooms of products, customers and orders, and those above them.
"""
