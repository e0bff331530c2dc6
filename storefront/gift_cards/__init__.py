"""Gift cards: issued, mailed with a code, spent and refunded, with a log of each card that adds up to its balance.

Knows no carts, orders or payments, only their numbers. May import the rooms up to `customers`.
"""
