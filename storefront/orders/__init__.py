"""Orders: what was sold to whom at which price, copied when the order is placed; payments, fulfilments, refunds, stock.

Never reads a price from the catalogue after an order is placed. May import the rooms up to `carts`.
"""
