"""Events: what happened in a shop that an app may hear of, written in the transaction that made it happen.

Never changes what an event tells of. May import `kit` and `shops`.
"""
