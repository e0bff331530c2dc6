"""The indexes of a PostgreSQL database that cost writes and help no read: those that repeat another's beginning."""

from typing import Any

# Indexes of partitions count once, with the partition that is the pattern of the others, `..._default`.
COUNT = """
    SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
    WHERE c.relnamespace = 'public'::regnamespace
        AND (c.relkind = 'r' AND NOT c.relispartition OR c.relispartition AND c.relname LIKE '%\\_default')
"""
# An index repeats another if that one begins with the same columns and holds the same rows. Django also makes a second
# index for LIKE on each unique text, with other operators: it counts as one too, since no text that is unique here is
# searched by its beginning.
REPEATED = """
WITH candidates AS (
    SELECT i.*, c.relname AS name, c.relam AS method, pg_get_expr(i.indpred, i.indrelid) AS condition,
           string_to_array(i.indkey::text, ' ') AS columns, string_to_array(i.indoption::text, ' ') AS options,
           (SELECT array_agg(replace(replace(o.opcname, 'varchar_pattern_ops', 'text_ops'),
                                     'text_pattern_ops', 'text_ops') ORDER BY place)
            FROM unnest(i.indclass::oid[]) WITH ORDINALITY AS used (oid, place)
            JOIN pg_opclass o ON o.oid = used.oid) AS operators,
           EXISTS (SELECT 1 FROM pg_opclass o WHERE o.oid = ANY (i.indclass::oid[]) AND o.opcname LIKE '%%pattern_ops')
               AS is_for_like
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    WHERE c.relnamespace = 'public'::regnamespace
)
SELECT DISTINCT a.indrelid::regclass::text, a.name
FROM candidates a JOIN candidates b ON a.indrelid = b.indrelid AND a.indexrelid <> b.indexrelid
WHERE NOT a.indisunique AND a.method = b.method AND a.indexprs IS NULL AND b.indexprs IS NULL
    AND a.indnatts <= b.indnkeyatts AND (NOT b.is_for_like OR a.is_for_like)
    AND a.condition IS NOT DISTINCT FROM b.condition
    AND a.columns = b.columns[1:a.indnkeyatts] AND a.operators = b.operators[1:a.indnkeyatts]
    AND a.options = b.options[1:a.indnkeyatts]
    AND NOT (a.columns = b.columns AND a.is_for_like = b.is_for_like AND NOT b.indisunique
             AND a.indexrelid < b.indexrelid)
ORDER BY 1, 2
"""


def index_count(cursor: Any) -> int:
    cursor.execute(COUNT)
    return int(cursor.fetchone()[0])


def repeated_indexes(cursor: Any) -> list[tuple[str, str]]:
    """The table and the name of each index that repeats another."""
    cursor.execute(REPEATED, [])
    return [(table, name) for table, name in cursor.fetchall()]
