"""Products, variants, options, media, categories and stock: what a shop sells, how it changes, and which
values are valid.

Knows nothing of buyers. May import `kit`, `shops`, `installations`, `webhooks` and `apps`.
"""
