"""Fetches blocks from apps (R-APP-19 to R-APP-24).

The extensions of a page are called concurrently, each once and within its own `timeout_ms`. If a call fails, its block
is left out and the shopper sees no error. Pages never wait for this: the browser fetches the blocks afterwards.

An extension that failed five times in a row (`FAILURES_BEFORE_PAUSE`) is suspended for 60 seconds
(`PAUSE_AFTER_FAILURES`). Then a single request calls it again: the one that first updates `asked_again_at`. If that
call succeeds, the extension is healthy again; if it fails, the next pause begins. This state is stored in the
extension's row, so all web processes share it.

While apps are slow, at most half of a process's threads wait for them; further pages have no blocks.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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

from storefront.apps.blocks import NoBlock, parse_block
from storefront.apps.models import Extension, ExtensionCall
from storefront.kit import outbound
from storefront.kit.outbound import Answer, TimedOut, Unreachable
from storefront.kit.sealing import Unsealable
from storefront.shops.models import Shop
from storefront.webhooks.signing import sign

log = structlog.get_logger(__name__)

# Failures in a row after which an extension is suspended, and for how long.
FAILURES_BEFORE_PAUSE, PAUSE_AFTER_FAILURES = 5, timedelta(seconds=60)
# Bytes of the request and of the answer that are stored.
LOGGED_BYTES = 1024

waiting_slots = BoundedSemaphore(4)


def limit_waiting_threads(threads: int) -> None:
    """Let at most half of this process's threads wait for apps at a time. Call it before the first request."""
    global waiting_slots
    waiting_slots = BoundedSemaphore(max(1, threads // 2))


@contextmanager
def waiting_slot() -> Iterator[bool]:
    """Yields True if this thread may wait for apps: then it occupies a slot until the `with` block ends."""
    has_slot = waiting_slots.acquire(blocking=False)
    try:
        yield has_slot
    finally:
        if has_slot:
            waiting_slots.release()


@dataclass(frozen=True)
class Block:
    """A block to show: sanitised HTML and the name of its app."""

    html: str
    extension_id: int
    app: str


@dataclass(frozen=True)
class BlockCall:
    """One call of an extension, with its outcome and the block's HTML."""

    extension: Extension
    call: ExtensionCall
    html: str = ""

    @property
    def is_shown(self) -> bool:
        return self.call.outcome == ExtensionCall.Outcome.SHOWN


def fetch_blocks(shop: Shop, type: str, *, payload: dict[str, Any], now: datetime) -> list[Block]:
    """The shop's blocks of this type, in the order of registration of their extensions.

    `payload` has `items`, `totals` and `cart`. Takes as long as the slowest app, up to its timeout. Failing apps raise
    nothing.
    """
    extensions = available_extensions(shop, type, now)
    if not extensions:
        return []
    with waiting_slot() as has_slot:
        if not has_slot:
            log.warning("blocks_left_out", shop=shop.pk, type=type)
            return []
        html = fetch_html(shop, extensions, payload=payload, now=now)
    return [Block(html[each.pk], each.pk, str(each.installation)) for each in extensions if html.get(each.pk)]


def available_extensions(shop: Shop, type: str, now: datetime) -> list[Extension]:
    """The active extensions of this type that are not suspended."""
    active = Extension.objects.filter(shop=shop, type=type, is_active=True)
    return list(_with_app(active.filter(Q(asked_again_at=None) | Q(asked_again_at__lte=now))))


def fetch_html(
    shop: Shop, extensions: Sequence[Extension], *, payload: dict[str, Any], now: datetime
) -> dict[int, str]:
    """Fetch the blocks of these extensions. Returns the HTML of each successful call by the extension's id."""
    calls = call_extensions(shop, [each for each in extensions if claim_call(each, now)], payload=payload, now=now)
    return {each.extension.pk: each.html for each in calls if each.is_shown}


def preview_block(shop: Shop, extension_id: int, *, payload: dict[str, Any], now: datetime) -> BlockCall | None:
    """Call one extension for the merchant, even if it is inactive or suspended. None if it does not exist."""
    found = list(_with_app(Extension.objects.filter(shop=shop, pk=extension_id)))
    return call_extensions(shop, found, payload=payload, now=now)[0] if found else None


def call_extensions(
    shop: Shop, extensions: Sequence[Extension], *, payload: dict[str, Any], now: datetime
) -> list[BlockCall]:
    """Call these extensions concurrently and record the outcomes."""
    if not extensions:
        return []
    calls = asyncio.run(_call_all(shop, extensions, payload, now))
    try:
        _record_calls(calls, now)
    except DatabaseError as error:
        # For example because the database is busy. The shopper gets the block anyway.
        log.warning("extension_calls_not_kept", shop=shop.pk, reason=str(error))
    return calls


def _with_app(extensions: QuerySet[Extension]) -> QuerySet[Extension]:
    return extensions.select_related("installation__app").order_by("pk")


def claim_call(extension: Extension, now: datetime) -> bool:
    """Returns True if this request may call the extension: it is not failing, or this request is the first after its
    pause."""
    if extension.asked_again_at is None:
        return True
    unclaimed = Extension.objects.filter(pk=extension.pk, asked_again_at=extension.asked_again_at)
    return bool(unclaimed.update(asked_again_at=now + PAUSE_AFTER_FAILURES))


async def _call_all(
    shop: Shop, extensions: Sequence[Extension], payload: dict[str, Any], now: datetime
) -> list[BlockCall]:
    async with outbound.open_session() as session:
        return await asyncio.gather(*(_call(session, shop, extension, payload, now) for extension in extensions))


async def _call(
    session: ClientSession, shop: Shop, extension: Extension, payload: dict[str, Any], now: datetime
) -> BlockCall:
    id, deadline = f"call_{uuid4().hex}", extension.timeout_ms / 1000
    message = {"id": id, "type": extension.type, "shop_domain": shop.domain, "currency": shop.currency, **payload}
    body = orjson.dumps(message)
    loop = asyncio.get_running_loop()
    began, html, reason, outcome = loop.time(), "", "", ExtensionCall.Outcome.SHOWN
    answer: Answer | None = None
    try:
        signed = sign(id=id, body=body, secrets=extension.installation.signing_secrets(now), now=now)
        headers = {"Content-Type": "application/json", "Accept": "application/json", **signed}
        answer = await outbound.post(
            session, extension.callback_url, body=body, headers=headers, connect=deadline, total=deadline
        )
        html = parse_block(answer)
    except TimedOut as late:
        outcome, reason = ExtensionCall.Outcome.TIMED_OUT, late.reason
    except Unsealable:
        outcome, reason = (
            ExtensionCall.Outcome.FAILED,
            "The app's secret cannot be decrypted because SECRET_KEY has changed.",
        )
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
        request=_excerpt(body),
        answer=_excerpt(answer.body) if answer else "",
    )
    return BlockCall(extension, call, html)


def _excerpt(body: bytes) -> str:
    # PostgreSQL rejects NUL in text.
    return body[:LOGGED_BYTES].decode(errors="replace").replace("\x00", "�")


@transaction.atomic
def _record_calls(calls: Sequence[BlockCall], now: datetime) -> None:
    """Record the calls of extensions that still exist, which are locked so that none is deleted meanwhile."""
    rows = Extension.objects.select_for_update(no_key=True).filter(pk__in=[each.extension.pk for each in calls])
    failures = dict(rows.order_by("pk").values_list("pk", "failures_in_a_row"))
    calls = [each for each in calls if each.extension.pk in failures]
    ExtensionCall.objects.bulk_create([each.call for each in calls])
    recovered = [each.extension.pk for each in calls if each.is_shown and failures[each.extension.pk]]
    failed = [each.extension.pk for each in calls if not each.is_shown]
    if recovered:
        Extension.objects.filter(pk__in=recovered).update(failures_in_a_row=0, asked_again_at=None)
    if failed:
        # Incremented by the database, since other processes may record failures of the same extension.
        pause = Case(
            When(failures_in_a_row__gte=FAILURES_BEFORE_PAUSE - 1, then=Value(now + PAUSE_AFTER_FAILURES)), default=None
        )
        Extension.objects.filter(pk__in=failed).update(
            failures_in_a_row=F("failures_in_a_row") + 1, asked_again_at=pause
        )
