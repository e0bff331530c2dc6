"""Asks apps for their blocks (contract: Calls from the shop to an app; decisions: Extension call).

All blocks of a page are asked for side by side, each within its own `timeout_ms`, once. Whatever goes wrong, its block
is left out and the shopper sees no error. Pages never wait for this: they fetch their blocks afterwards.

An extension that failed five times in a row (`PATIENCE`) is not asked for 60 seconds (`PAUSE`). Then a single request
asks again, that of whoever moves `asked_again_at` first, and its outcome decides: shown, and all is well again; failed,
and the next pause begins. This is kept in the extension's row, so that all web processes share it.

While apps are slow, at most half of a process's threads wait for them; pages beyond that have no blocks.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import BoundedSemaphore
from typing import Any
from uuid import uuid4

import orjson
import structlog
from aiohttp import ClientSession
from django.db import DatabaseError, transaction
from django.db.models import Case, F, Q, QuerySet, Value, When

from storefront.apps.blocks import NoBlock, block_of
from storefront.apps.models import Extension, ExtensionCall
from storefront.kit import outbound
from storefront.kit.outbound import Answer, TimedOut, Unreachable
from storefront.shops.models import Shop
from storefront.webhooks.signing import sign

log = structlog.get_logger(__name__)

# Failures in a row until an extension is not asked, and for how long it is not.
PATIENCE, PAUSE = 5, timedelta(seconds=60)
# Characters of what was sent and of what came that are kept.
KEPT = 1024

_places = BoundedSemaphore(4)


def reserve(threads: int) -> None:
    """Of a web process that has so many threads, at most half wait for apps at a time. For before the first request."""
    global _places
    _places = BoundedSemaphore(max(1, threads // 2))


@dataclass(frozen=True)
class Block:
    """A block to show: `html` can do the page no harm, and `app` is the name of whose it is."""

    html: str
    extension_id: int
    app: str


@dataclass(frozen=True)
class Asked:
    """One call and what became of it."""

    extension: Extension
    call: ExtensionCall
    html: str = ""

    @property
    def is_answered(self) -> bool:
        return self.call.outcome == ExtensionCall.Outcome.SHOWN


def blocks(shop: Shop, type: str, *, payload: dict[str, Any], now: datetime) -> list[Block]:
    """The blocks of this type that the shop's apps show, in the order of their registration.

    `payload` holds `items` and `totals`. Takes as long as the slowest of them may; raises nothing for what they do.
    """
    if not _places.acquire(blocking=False):
        log.warning("blocks_left_out", shop=shop.pk, type=type)
        return []
    try:
        standing = Extension.objects.filter(shop=shop, type=type, is_active=True)
        standing = standing.filter(Q(asked_again_at=None) | Q(asked_again_at__lte=now))
        extensions = [each for each in _with_app(standing) if _may_be_asked(each, now)]
        asked = ask(shop, extensions, payload=payload, now=now)
    finally:
        _places.release()
    return [Block(each.html, each.extension.pk, str(each.extension.installation)) for each in asked if each.html]


def ask_once(shop: Shop, extension_id: int, *, payload: dict[str, Any], now: datetime) -> Asked | None:
    """One extension's block now, asked for on the merchant's word, so even during a pause; None for no such one."""
    found = list(_with_app(Extension.objects.filter(shop=shop, pk=extension_id)))
    return ask(shop, found, payload=payload, now=now)[0] if found else None


def ask(shop: Shop, extensions: Sequence[Extension], *, payload: dict[str, Any], now: datetime) -> list[Asked]:
    """Ask for all these blocks at once, and write down how it went."""
    if not extensions:
        return []
    asked = asyncio.run(_ask_all(shop, extensions, payload, now))
    try:
        _record(asked, now)
    except DatabaseError as error:
        # As when the database is busy. The shopper has the block all the same.
        log.warning("extension_calls_not_kept", shop=shop.pk, reason=str(error))
    return asked


def _with_app(extensions: QuerySet[Extension]) -> QuerySet[Extension]:
    return extensions.select_related("installation__app").order_by("pk")


def _may_be_asked(extension: Extension, now: datetime) -> bool:
    """Whether it is in good health, or this request is the one that asks again."""
    if extension.asked_again_at is None:
        return True
    still = Extension.objects.filter(pk=extension.pk, asked_again_at=extension.asked_again_at)
    return bool(still.update(asked_again_at=now + PAUSE))


async def _ask_all(shop: Shop, extensions: Sequence[Extension], payload: dict[str, Any], now: datetime) -> list[Asked]:
    async with outbound.open_session() as session:
        return await asyncio.gather(*(_ask(session, shop, extension, payload, now) for extension in extensions))


async def _ask(
    session: ClientSession, shop: Shop, extension: Extension, payload: dict[str, Any], now: datetime
) -> Asked:
    id, deadline = f"call_{uuid4().hex}", extension.timeout_ms / 1000
    question = {"id": id, "type": extension.type, "shop_domain": shop.domain, "currency": shop.currency, **payload}
    body = orjson.dumps(question)
    signed = sign(id=id, body=body, secrets=extension.installation.signing_secrets(now), now=now)
    headers = {"Content-Type": "application/json", "Accept": "application/json", **signed}
    loop = asyncio.get_running_loop()
    began, html, reason, outcome = loop.time(), "", "", ExtensionCall.Outcome.SHOWN
    answer: Answer | None = None
    try:
        answer = await outbound.post(
            session, extension.callback_url, body=body, headers=headers, connect=deadline, total=deadline
        )
        html = block_of(answer)
    except TimedOut as late:
        outcome, reason = ExtensionCall.Outcome.TIMED_OUT, late.reason
    except (Unreachable, NoBlock) as failed:
        outcome, reason = ExtensionCall.Outcome.FAILED, str(failed)
    call = ExtensionCall(
        shop=shop,
        extension=extension,
        called_at=now,
        duration_ms=round((loop.time() - began) * 1000),
        outcome=outcome,
        status=answer.status if answer else None,
        reason=reason,
        request=_start(body),
        answer=_start(answer.body) if answer else "",
    )
    return Asked(extension, call, html)


def _start(body: bytes) -> str:
    # PostgreSQL keeps no NUL.
    return body[:KEPT].decode(errors="replace").replace("\x00", "�")


@transaction.atomic
def _record(asked: Sequence[Asked], now: datetime) -> None:
    """Write down how it went with those that still stand, locked so that none is deleted meanwhile."""
    rows = Extension.objects.select_for_update(no_key=True).filter(pk__in=[each.extension.pk for each in asked])
    failures = dict(rows.order_by("pk").values_list("pk", "failures_in_a_row"))
    asked = [each for each in asked if each.extension.pk in failures]
    ExtensionCall.objects.bulk_create([each.call for each in asked])
    well = [each.extension.pk for each in asked if each.is_answered and failures[each.extension.pk]]
    ill = [each.extension.pk for each in asked if not each.is_answered]
    if well:
        Extension.objects.filter(pk__in=well).update(failures_in_a_row=0, asked_again_at=None)
    if ill:
        # Counted by the database, since other processes may have just failed with the same one.
        pause = Case(When(failures_in_a_row__gte=PATIENCE - 1, then=Value(now + PAUSE)), default=None)
        Extension.objects.filter(pk__in=ill).update(failures_in_a_row=F("failures_in_a_row") + 1, asked_again_at=pause)
