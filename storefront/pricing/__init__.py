"""Prices: group prices, option prices, automatic discounts, tax, shipping rates and totals.

Its rules are pure functions on Decimals; it never writes a cart or an order. May import the rooms up to `customers`.
"""
