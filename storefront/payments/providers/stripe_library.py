"""Stripe's library, imported when something of it is first used: it takes 15 MB of a process, and few shops use it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any


class _Library:
    def __getattr__(self, name: str) -> Any:
        return getattr(import_module("stripe"), name)


if TYPE_CHECKING:
    import stripe as stripe
else:
    stripe = _Library()
