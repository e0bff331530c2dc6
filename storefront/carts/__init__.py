"""Carts and their lines: keys, tokens, expiry, merging; what the cart API and the shop's basket page work on.

Never takes stock and never takes payment. May import the rooms up to `pricing`.
"""
