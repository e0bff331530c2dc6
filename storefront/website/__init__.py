"""The shopper's pages: home, listing, product, basket; the base template and style that checkout shares.

Has no rules and no tables of its own. May import the rooms up to `checkout`.
"""
