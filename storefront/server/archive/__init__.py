"""Moves data between databases: a deployment to a server (`copying.py`), a shop to a file and back (`exporting.py`,
`importing.py`). `tables.py` knows which rows belong to a shop."""
