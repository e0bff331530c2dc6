"""Copies a SQLite database to a new file, while the shop is open, and checks the copy: copy_sqlite.py FROM TO"""

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

source, target = sys.argv[1:]
with (
    closing(sqlite3.connect(f"{Path(source).absolute().as_uri()}?mode=ro", uri=True, timeout=60)) as shop,
    closing(sqlite3.connect(target)) as copy,
):
    # All pages in one step: a reader in WAL mode, so writers do not wait, and the copy is of one moment.
    shop.backup(copy, pages=-1)
    copy.execute("PRAGMA journal_mode=DELETE")
    (found,) = copy.execute("PRAGMA quick_check").fetchone()
    if found != "ok":
        sys.exit(f"The copy is damaged: {found}")
    if not copy.execute("SELECT count(*) FROM sqlite_master WHERE name = 'shops_shop'").fetchone()[0]:
        sys.exit(f"{source} is not the database of a shop.")
