"""Gift cards: issued, mailed with a code, spent and refunded, with a log of each card that adds up to its balance.

Knows carts, orders and payments only by their ids. May import the rooms up to `customers`.
"""
