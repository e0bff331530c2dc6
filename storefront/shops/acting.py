"""Who acts in a request, a command or a task, and from where.

The actor is known only where a call comes in: the credential of an API call, the session of the admin, a command, the
worker. There it is set once (`acting`, `act_as`), in a context variable that ends with the request, command or task. As
an argument of sixty actions, sixty callers could get it wrong. Without an actor, as in a shell, it is the system.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import structlog

from storefront.shops.audit_models import AuditEntry
from storefront.shops.models import User
from storefront.shops.request import Caller

Kind = AuditEntry.Kind


@dataclass(frozen=True)
class Actor:
    """Who acts. `name` is for people to read, and can be erased from the log."""

    kind: str
    id: int | None = None
    name: str = ""

    def __str__(self) -> str:
        """The actor in the log, which names no person."""
        return str(self.kind) if self.id is None else f"{self.kind} {self.id}"


SYSTEM = Actor(Kind.SYSTEM)


@dataclass
class Acting:
    """Who acts in this request, command or task, from where, and the objects (type and id) recorded so far."""

    actor: Actor
    place: Callable[[], str]
    request_id: str = ""
    recorded: set[tuple[str, int | None]] = field(default_factory=set)


_acting: ContextVar[Acting | None] = ContextVar("acting", default=None)


@contextmanager
def acting(actor: Actor, *, place: Callable[[], str] | str = "", request_id: str = "") -> Iterator[None]:
    """Set the actor for the block; `act_as` can replace it inside. `place` may be a function, which is called only if
    something is recorded."""
    get_place = place if callable(place) else lambda: place
    token = _acting.set(Acting(actor, get_place, request_id))
    try:
        yield
    finally:
        _acting.reset(token)


def act_as(actor: Actor) -> None:
    """Replace the actor of the current `acting` block, once the caller is known, and name it in the log lines of the
    request by its kind and id. Without such a block, does nothing."""
    current = _acting.get()
    if current is not None:
        current.actor = actor
        if actor.id is not None:
            structlog.contextvars.bind_contextvars(caller=str(actor))


def staff(user: User) -> Actor:
    return Actor(Kind.STAFF, user.pk, user.email or user.get_username())


def caller(caller: Caller) -> Actor:
    """An installed app, or one of the shop's own tokens, as an actor."""
    if caller.installation_id is not None:
        return Actor(Kind.APP, caller.installation_id, caller.name)
    return Actor(Kind.TOKEN, caller.token_id, caller.name)


def current() -> Acting | None:
    return _acting.get()


def current_actor() -> Actor:
    current = _acting.get()
    return current.actor if current else SYSTEM


def current_place() -> str:
    """Where the current actor acts from: an IP address or network, or a machine's name; empty if unknown."""
    current = _acting.get()
    return current.place() if current else ""
