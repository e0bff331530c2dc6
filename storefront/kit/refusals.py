"""A refusal: the domain says no, in one sentence for people and one stable word for programs."""

from typing import Any, ClassVar


class Refusal(Exception):
    """Raised by an action that will not do what was asked; nothing has changed.

    Subclasses stand beside the action that raises them and set `status` and `code`. `errors` maps a field
    to its messages; where it is not given, a 422 names `field`, what was asked for that cannot be had. `extra` adds
    members to the JSON body (decisions: Error bodies).
    """

    status: ClassVar[int] = 422
    code: ClassVar[str] = "refused"
    message: ClassVar[str] = "The request was refused."
    field: ClassVar[str] = "request"

    def __init__(self, message: str | None = None, *, errors: dict[str, list[str]] | None = None, **extra: Any) -> None:
        self.text = message or self.message
        self.errors = errors
        self.extra = extra
        super().__init__(self.text)

    @property
    def headers(self) -> dict[str, str]:
        return {}

    def body(self) -> dict[str, Any]:
        """The JSON body of this refusal."""
        body: dict[str, Any] = {"message": self.text, "code": self.code}
        if self.errors is not None:
            body["errors"] = self.errors
        elif self.status == 422:
            body["errors"] = {self.field: [self.text]}
        return body | self.extra


class InvalidFields(Refusal):
    """Fields that do not fit; `errors` names each."""

    code = "invalid_fields"
    message = "The request has invalid fields."


class NotFound(Refusal):
    """Unknown here, which is also what another shop's resource looks like."""

    status, code, message = 404, "not_found", "Not found."
