"""Orders: what was sold to whom at which price, copied at the moment of sale; payments; fulfilment; taking stock.

Never reads a price from the catalogue again once an order stands. May import the rooms up to `carts`.
"""
