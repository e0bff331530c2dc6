"""The index of search texts, which Django has no field for: FTS5 on SQLite, trigrams on PostgreSQL."""

from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, migrations, transaction


def create_search_index(apps, editor):
    if editor.connection.vendor == "sqlite":
        _on_sqlite(editor)
    else:
        _on_postgresql(editor, apps.get_model("catalogue", "ProductSearch"))


def _on_sqlite(editor):
    # Texts are casefolded already, hence case_sensitive. Results are not ranked, hence no column sizes. Without
    # positions, which double the cost of a text, a search looks at the texts that have all parts of a word.
    editor.execute(
        "CREATE VIRTUAL TABLE catalogue_searchindex USING fts5"
        "(text, content='', columnsize=0, detail=none, tokenize='trigram case_sensitive 1')"
    )
    # For imports, which write many rows at once: a larger buffer (in bytes), merged less often.
    for setting, value in (("hashsize", 8_000_000), ("automerge", 8)):
        editor.execute(f"INSERT INTO catalogue_searchindex (catalogue_searchindex, rank) VALUES ('{setting}', {value})")


def _on_postgresql(editor, search):
    """Raises ImproperlyConfigured if PostgreSQL's extensions are missing."""
    for name in ("pg_trgm", "btree_gin"):
        try:
            with transaction.atomic(using=editor.connection.alias):
                editor.execute(f"CREATE EXTENSION IF NOT EXISTS {name}")
        except DatabaseError:
            raise ImproperlyConfigured(
                f"The database's search needs its extension {name}, which this database user may not create or which "
                f"is not installed. Have a superuser run CREATE EXTENSION {name}; in this database, then run "
                "storefront migrate again."
            ) from None
    editor.execute(
        "CREATE INDEX catalogue_searchindex ON catalogue_productsearch"
        " USING gin (shop_id, text gin_trgm_ops) WHERE listed"
    )
    # Right after an import, without statistics of the shop, PostgreSQL would read all of its texts by this one.
    for name in editor._constraint_names(search, ["shop_id"], index=True):
        editor.execute(f"DROP INDEX {editor.quote_name(name)}")


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0001_baseline")]

    operations = [migrations.RunPython(create_search_index)]
