"""Shops, their API tokens and scopes, the shop of a token or a host, and the limits of calls; and the tables of the
rooms `staff` and `audit`.

Never decides what a person may do in the admin, and never reads a product, a cart or an order. May import `kit`.
"""
