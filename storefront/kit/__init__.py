"""What knows no shop: money, clock, wire formats of time, tokens and digests, URL signing, refusals, JSON answers.

Never touches the database. Imports nothing of the other rooms.
"""
