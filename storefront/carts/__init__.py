"""Carts and their lines: keys, tokens, expiry, merging. The cart API and the shop's basket page use this room.

Never takes stock or payments. May import the rooms up to `pricing`.
"""
