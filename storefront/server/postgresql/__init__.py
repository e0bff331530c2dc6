"""Django's PostgreSQL, with one thing quicker: whether a kept connection still stands."""
