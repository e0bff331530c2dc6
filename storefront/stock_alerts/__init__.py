"""Shoppers who wait until something sold out can be bought again, and the one mail that each gets then.

May import the rooms up to `customers`.
"""
