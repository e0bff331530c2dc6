"""One person's data: found by e-mail address in every room, exported into a file, and erased as far as the law lets a
shop (docs/privacy.md).

It may import every room that has data about shoppers; only the server and the demo import it.
"""
