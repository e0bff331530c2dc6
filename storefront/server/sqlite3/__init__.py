"""Django's SQLite backend, which keeps triggers when a migration remakes a table."""
