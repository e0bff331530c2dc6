"""Products, variants, options, media, categories and stock: what a shop sells, read, searched, imported and exported.

Never knows who buys. May import `kit`, `shops`, `apps` and `webhooks`.
"""
