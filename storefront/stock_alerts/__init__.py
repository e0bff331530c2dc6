"""Stock alerts: a shopper leaves an email address at a sold-out product, and gets one mail when it can be bought again.

May import the rooms up to `customers`.
"""
