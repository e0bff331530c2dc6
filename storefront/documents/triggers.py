"""Triggers that refuse every change of an issued document, whatever code writes to it: an action, a form, somebody's
SQL.

`migrate` creates them after all migrations (`kit/triggers.py`). They are kept when Django rebuilds a table on SQLite
(`server/sqlite3`).
"""

from functools import partial

from storefront.kit.dialect import IS_POSTGRESQL
from storefront.kit.triggers import TriggerSet

if IS_POSTGRESQL:
    from storefront.documents.postgresql import triggers
else:
    from storefront.documents.sqlite import triggers

CHANGED = "An issued document cannot be changed."

TRIGGERS = TriggerSet(
    app_label="documents",
    consequence="issued invoices and credit notes can be changed",
    statements=partial(triggers, "documents_document", CHANGED),
)
