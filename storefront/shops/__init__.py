"""Shops, the people who run them, their API tokens and scopes, and which shop a token or a host means.

Never reads a product, a cart or an order. May import `kit`.
"""
