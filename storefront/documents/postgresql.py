"""Triggers of issued documents, for PostgreSQL."""


def triggers(table: str, refusal: str) -> list[str]:
    """The statements that create triggers which refuse every change of the table's rows."""
    return [
        f"""
        CREATE FUNCTION documents_changed() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = '{refusal}';
        END $$
        """,
        f"CREATE TRIGGER documents_changed BEFORE UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION documents_changed()",
    ]
