"""How a test that committed leaves an empty database to the next: as Django's `flush`, in a small part of its time.

`flush` truncates every table, which are files to be made and synced on PostgreSQL, and then makes content types and
permissions again. Here rows are deleted where there are any, and content types and permissions stay. As with `flush`,
no sequence begins anew.
"""

from django.db import connection, transaction

# Made once with the tables; nothing here writes them.
KEPT = {"django_content_type", "auth_permission"}


def empty_the_database() -> None:
    tables = sorted(set(connection.introspection.django_table_names()) - KEPT)
    # Deleting products makes triggers write totals: so again until nothing is left. Foreign keys are looked at last.
    with transaction.atomic(), connection.cursor() as cursor:
        while filled := tables_with_rows(cursor, tables):
            for table in filled:
                cursor.execute(f"DELETE FROM {connection.ops.quote_name(table)}")


def tables_with_rows(cursor, tables: list[str]) -> list[str]:
    quoted = map(connection.ops.quote_name, tables)
    answers = ", ".join(f"EXISTS (SELECT 1 FROM {table})" for table in quoted)
    cursor.execute(f"SELECT {answers}")
    return [table for table, has_rows in zip(tables, cursor.fetchone(), strict=True) if has_rows]
