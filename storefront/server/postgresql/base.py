from select import POLLIN, poll
from typing import Any

from django.conf import settings
from django.db import InternalError
from django.db.backends.postgresql import base, schema

from storefront.kit.database_errors import is_torn
from storefront.pods.sequences import begin_ids


class DatabaseSchemaEditor(schema.DatabaseSchemaEditor):
    def create_model(self, model: Any) -> None:
        """Creates a table, whose ids are those of this pod before any row is written to it."""
        super().create_model(model)
        if settings.POD and not self.collect_sql:
            with self.connection.cursor() as cursor:
                begin_ids(cursor, settings.POD)


class DatabaseWrapper(base.DatabaseWrapper):
    SchemaEditorClass = DatabaseSchemaEditor

    def is_usable(self) -> bool:
        """Whether the connection still works. Django asks this once a request, with a query. But when the server closes
        a connection, its socket becomes readable, so only then, and after an error, a query is sent."""
        if self.connection is not None and not self.connection.closed and not self.errors_occurred:
            socket = poll()
            socket.register(self.connection.fileno(), POLLIN)
            if not socket.poll(0):
                return True
        return super().is_usable()

    def _commit(self) -> None:
        """Commit. Drops a connection that ended meanwhile, so that nothing is sent on it again."""
        try:
            super()._commit()  # type: ignore[misc]
        except InternalError as error:
            if is_torn(error):
                self.close()
            raise
