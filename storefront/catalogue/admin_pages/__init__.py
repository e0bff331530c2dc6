"""The catalogue's pages in the admin, which `catalogue/admin.py` registers."""
