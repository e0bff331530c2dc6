"""Code that knows no shop: money, clock, time formats, tokens and digests, URL signing, refusals, JSON responses.

Never touches the database. Imports nothing of the other rooms.
"""
