"""From a cart to an order: the signed link, `/cart/resume`, the checkout pages, payment gateways.

Never changes what an order says once it stands. May import the rooms up to `orders`.
"""
