"""The catalogue's tables beside products, variants and categories. Import them from `catalogue/models.py`."""
