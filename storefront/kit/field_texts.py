from typing import Any

from django.db import models
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState


class AlterFieldTexts(Operation):
    """Change the texts of many fields: help texts, verbose names, labels of choices.

    The database holds none of these. This is one operation instead of an AlterField for each, since Django creates the
    related models again after every AlterField, which takes longer than all other migrations together. `fields` maps
    "model.field", in lower case, to the whole field.
    """

    reduces_to_sql = False
    reversible = True

    def __init__(self, fields: dict[str, models.Field]) -> None:
        self.fields = fields

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        for path, field in self.fields.items():
            model, name = path.split(".")
            state.models[app_label, model].fields[name] = field
        # Models that Django has created from the state are created again when a later migration needs them.
        state.__dict__.pop("apps", None)

    def database_forwards(self, *_: Any) -> None:
        pass

    def database_backwards(self, *_: Any) -> None:
        pass

    def describe(self) -> str:
        return "Alter texts of fields"
