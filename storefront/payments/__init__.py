"""Payments and refunds through payment providers, before and after an order is placed.

Never knows a card number of a real provider. May import the rooms up to `orders`.
"""
