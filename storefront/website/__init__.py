"""The shopper's pages: home, listing, product, basket; the base template and style that checkout shares.

Holds no rule and no table of its own. May import the rooms up to `checkout`.
"""
