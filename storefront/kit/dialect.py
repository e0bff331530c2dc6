"""Which database this process runs on: SQLite or PostgreSQL.

Where the two need different SQL, it is in a pair of modules, `sqlite.py` and `postgresql.py`, with the same names and
signatures. One of them is imported, once, and nothing else asks for the database.
"""

from django.db import connection

IS_POSTGRESQL = connection.vendor == "postgresql"

if IS_POSTGRESQL:
    from storefront.kit import postgresql as dialect
else:
    from storefront.kit import sqlite as dialect  # type: ignore[no-redef]

__all__ = ["IS_POSTGRESQL", "dialect"]
