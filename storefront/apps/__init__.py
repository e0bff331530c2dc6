"""Apps and their installations in shops: tokens, scopes, and blocks and scripts on the shop's pages.

An app never reaches another shop, and no page waits for an app. May import `kit`, `shops` and `webhooks`.
"""
