"""From a cart to an order: the signed link, `/cart/resume`, the checkout pages, payment gateways.

Never changes an order after placing it. May import the rooms up to `orders`.
"""
