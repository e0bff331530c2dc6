"""Refusals: exceptions of the domain, each with a sentence for people and a stable code for programs."""

from typing import Any, ClassVar


class Refusal(Exception):
    """Raised by an action that refuses a request; nothing has changed.

    Subclasses are defined beside the action that raises them and set `status` and `code`. `errors` maps field names to
    messages; without it, a 422 reports its message under `field`. `extra` adds members to the JSON body (R-ERR-1,
    R-ERR-8).
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
    """Invalid fields; `errors` has the messages of each."""

    code = "invalid_fields"
    message = "The request has invalid fields."


class NotFound(Refusal):
    """Not found. Another shop's resource gets the same response."""

    status, code, message = 404, "not_found", "Not found."
