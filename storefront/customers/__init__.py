"""Customers of a shop, the groups that give them their prices, and their addresses.

Never decides a price. May import `kit`, `shops`, `webhooks` and `catalogue`.
"""
