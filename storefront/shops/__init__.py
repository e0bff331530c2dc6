"""Shops, their staff, API tokens and scopes, and finding the shop of a token or a host.

Never reads a product, a cart or an order. May import `kit`.
"""
