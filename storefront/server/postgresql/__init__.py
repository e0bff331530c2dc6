"""Django's PostgreSQL backend, with a faster check of whether a connection is still usable."""
