# The position is taken when the row is locked, so that a later one always replaces an earlier one. Sorted, so that two
# processes that write several at once do not deadlock.
RECORD = """
    INSERT INTO shops_writtenposition AS written (shop_id, position)
    SELECT id, (pg_current_wal_insert_lsn() - '0/0')::bigint
    FROM unnest(%s::bigint[]) AS changed (id) ORDER BY id
    ON CONFLICT (shop_id) DO UPDATE SET position = (pg_current_wal_insert_lsn() - '0/0')::bigint
"""
