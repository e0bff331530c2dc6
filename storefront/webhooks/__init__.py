"""Events of a shop and their delivery to apps. An event is recorded in the transaction that changes the data.

Never changes the data that an event describes. May import `kit` and `shops`.
"""
