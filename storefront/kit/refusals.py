"""Refusals: exceptions of the domain, each with a sentence for people and a stable code for programs."""

from collections.abc import Iterable
from typing import Any, ClassVar

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from storefront.kit.text import Text

# A problem of one field, for programs: `{field, code, message}`, and members that help to correct it (R-ERR-13).
Problem = dict[str, Any]


class Refusal(Exception):
    """Raised by an action that refuses a request; nothing has changed.

    Subclasses are defined beside the action that raises them and set `status` and `code`. `errors` maps field names to
    messages; `problems` is the same for programs; each can be derived from the other. Without both, a 422 reports its
    message under `field`. `extra` adds members to the JSON body (R-ERR-1, R-ERR-8). The message is in the page's
    language, and in English in the API, which activates no other one.
    """

    status: ClassVar[int] = 422
    code: ClassVar[str] = "refused"
    message: ClassVar[Text] = _("The request was refused.")
    field: ClassVar[str] = "request"
    # The code of problems without one of their own.
    problem_code: ClassVar[str | None] = None

    def __init__(
        self,
        message: Text | None = None,
        *,
        errors: dict[str, list[str]] | None = None,
        problems: Iterable[Problem] | None = None,
        **extra: Any,
    ) -> None:
        self.text = str(message or self.message)
        self.problems = None if problems is None else list(problems)
        given = errors if self.problems is None else _messages(self.problems)
        self.errors = given and {field: [str(text) for text in texts] for field, texts in given.items()}
        self.extra = extra
        super().__init__(self.text)

    @property
    def headers(self) -> dict[str, str]:
        return {}

    def body(self) -> dict[str, Any]:
        """The JSON body of this refusal, without members of a single request."""
        body: dict[str, Any] = {"message": self.text, "code": self.code}
        errors = {self.field: [self.text]} if self.errors is None and self.status == 422 else self.errors
        if errors is not None:
            body["errors"] = errors
            body["problems"] = self.problems if self.problems is not None else self._problems(errors)
        return body | self.extra

    def _problems(self, errors: dict[str, list[str]]) -> list[Problem]:
        code = self.problem_code or self.code
        return [problem(field, code, text, **self.extra) for field, messages in errors.items() for text in messages]


class InvalidFields(Refusal):
    """Some fields are invalid; `errors` or `problems` have the reason for each."""

    code, problem_code = "invalid_fields", "invalid"
    message = _("The request has invalid fields.")


class TryLater(Refusal):
    """Refused for now; `retry_after` is in seconds."""

    def __init__(self, retry_after: int = 1, message: str | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after

    @property
    def headers(self) -> dict[str, str]:
        return {"Retry-After": str(self.retry_after)}


class NotFound(Refusal):
    """The resource does not exist. Another shop's resource gets the same response."""

    status, code = 404, "not_found"
    message: ClassVar[Text] = _("Not found.")


def problem(field: str, code: str, message: str | Promise, **help: Any) -> Problem:
    """Build the problem of a field. `help` are members that help to correct it, such as the allowed values."""
    return {"field": field, "code": code, "message": str(message), **help}


def _messages(problems: Iterable[Problem]) -> dict[str, list[str]]:
    errors: dict[str, list[str]] = {}
    for each in problems:
        errors.setdefault(each["field"], []).append(each["message"])
    return errors
