"""The people who work in a shop: how they sign in, what their pages share, and what they do to the shop itself.

Never reads a product, a cart or an order, and never signs in a shopper. May import `kit`, `shops` and `audit`.
"""
