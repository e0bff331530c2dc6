"""Apps, and what installing one in a shop gives it: a token, scopes, blocks and scripts on the shop's pages.

Never lets an app reach another shop, nor makes a shopper wait for one. May import `kit`, `shops` and `webhooks`.
"""
