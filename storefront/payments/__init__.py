"""Payments: what a shop takes and gives back through payment providers, before an order stands and after it.

Never knows a card number of a real provider. May import the rooms up to `orders`.
"""
