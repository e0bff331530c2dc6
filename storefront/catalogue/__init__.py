"""Products, variants, options, media, categories and stock: what a shop sells, how it changes, and which
values are valid.

It knows nothing of buyers. It may import `kit`, `shops`, `installations`, `webhooks` and `apps`.
"""
