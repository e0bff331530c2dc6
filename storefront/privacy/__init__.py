"""Finds one person's data in every room by email address, exports them into a file, and erases them as far as the law
lets a shop (docs/privacy.md).

May import every room that has data about shoppers. Only the server and the demo import this one.
"""
