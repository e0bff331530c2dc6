"""Shopify's CSV files: reading and writing."""
