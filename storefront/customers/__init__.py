"""Customers of a shop, the groups that give them their prices, their addresses, and how they sign in.

Never decides a price, and never reveals whether an email address is known. May import `kit`, `shops`, `webhooks`,
`apps` and `catalogue`.
"""
