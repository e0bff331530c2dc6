"""Imports and exports of product files: reading, matching, creating and updating products, and writing files.

Which values a product can have is decided in `catalogue`. May import `catalogue`, `listing` and the rooms above them.
"""
