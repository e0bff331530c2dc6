"""Documents: invoices and credit notes with their numbers, packing slips, and the PDF of each.

Never changes what was issued, and never changes an order. May import the rooms up to `payments`.
"""
