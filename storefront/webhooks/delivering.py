"""The loop that sends: it takes what is due, calls the receivers side by side, and writes down how that went.

One thread has the database, so that the loop never waits for it; there each turn is one after the other: mark what has
ended, dispatch, claim what there is room for. Everything a turn does it does in batches.
"""

import asyncio
import secrets
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from itertools import count
from threading import Event
from typing import Any

import aiohttp
import structlog
from django.db import InterfaceError, OperationalError, connections

from storefront.kit import clock, outbound
from storefront.webhooks import claiming, signing
from storefront.webhooks.dispatch import dispatch
from storefront.webhooks.marking import Outcome, mark
from storefront.webhooks.messages import Message
from storefront.webhooks.rules import LONGEST_RETRY_AFTER
from storefront.webhooks.shares import Shares

log = structlog.get_logger(__name__)

# Seconds for one call (decisions: Delivery).
CONNECT, TOTAL = 3.0, 10.0
# Seconds that a kept connection may wait for its next call: less than servers keep theirs.
KEPT = 1.0
# Seconds between looks while there is nothing to do, which is what an event waits for at most: at first, and once that
# many looks in a row have found nothing...
PULSE, QUIET_PULSE, QUIET_AFTER = 0.05, 0.15, 40
# ...and between turns while there is, so that each has a batch to write.
BREATH = 0.01
# A look that takes long, over a table that is being vacuumed, say, may not take more than this share of the time.
BUSIEST = 0.05
# Seconds before trying again a database that cannot be reached.
PATIENCE = 2.0
# Seconds that calls in flight have to end once the loop is told to stop.
GRACE = 7.0


class Deliverer:
    """Runs until `stop` is called, from whatever thread. Any number of them may run, each with a lease of its own."""

    def __init__(self) -> None:
        self.lease = secrets.token_hex(16)
        self.shares = Shares()
        # What has ended and is still to be written down.
        self.ended: list[Outcome] = []
        self.calls: dict[asyncio.Task[None], Message] = {}
        self.last_receiver = -1
        self.lease_ends = 0.0
        self.loop: asyncio.AbstractEventLoop | None = None
        # Told to stop: the one wakes the loop, the other the database's thread.
        self.told = asyncio.Event()
        self.stopping = Event()

    def stop(self) -> None:
        """Begin nothing more; `run` returns when what is in flight has ended, after GRACE seconds at most."""
        self.stopping.set()
        if self.loop:
            self.loop.call_soon_threadsafe(self.told.set)

    async def run(self) -> None:
        self.loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1, thread_name_prefix="deliveries") as self.database:
            try:
                async with outbound.open_session(keep=KEPT) as session:
                    while not self.stopping.is_set():
                        await self._rest(await self._turn(session))
                    await self._finish()
            finally:
                await self._in_database(connections.close_all)

    async def _rest(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self.told.wait(), seconds)

    async def _turn(self, session: aiohttp.ClientSession) -> float:
        """Once through: how many seconds to rest after it."""
        began = time.monotonic()
        ended, self.ended = self.ended, []
        try:
            messages = await self._in_database(self._next, ended)
        except (OperationalError, InterfaceError) as error:
            log.warning("database_away", reason=str(error).strip())
            # Written down once it can be. What the lease has ended of meanwhile is tried again by whoever comes first.
            self.ended = ended + self.ended
            await self._in_database(connections.close_all)
            return PATIENCE
        for message in messages:
            self._begin(session, message, until=self.lease_ends)
        return BREATH if messages or ended else pause_after(began)

    def _next(self, ended: list[Outcome]) -> list[Message]:
        """The next turn's messages. While no call is in flight they are waited for here, which costs a tenth of going
        back to the loop each time."""
        for look in count():
            began = time.monotonic()
            messages = self._book(ended)
            pulse = PULSE if look < QUIET_AFTER else QUIET_PULSE
            if messages or ended or self.calls or self.stopping.wait(pause_after(began, pulse)):
                break
        return messages

    def _book(self, ended: list[Outcome]) -> list[Message]:
        """The database's part of a turn: what to send now."""
        now = clock.now()
        if ended:
            mark(ended, lease=self.lease, now=now)
        events, due, held = claiming.work(now)
        if events:
            dispatch(now)
        if held:
            claiming.release_held(now)
        if not (events or due or held):
            return []
        now = clock.now()
        receivers, self.last_receiver = claiming.due_receivers(now, after=self.last_receiver)
        self.lease_ends = time.monotonic() + claiming.LEASE.total_seconds()
        # The loop only gives room back meanwhile.
        return claiming.claim(self.shares.allot(receivers), lease=self.lease, now=now)

    def _begin(self, session: aiohttp.ClientSession, message: Message, until: float) -> None:
        self.shares.begin(message.receiver)
        task = asyncio.create_task(self._call(session, message, until))
        self.calls[task] = message
        task.add_done_callback(self.calls.pop)

    async def _call(self, session: aiohttp.ClientSession, message: Message, until: float) -> None:
        seconds = None
        try:
            # Where this machine was asleep or overloaded, the lease may end before the call would.
            if time.monotonic() + TOTAL < until:
                outcome = await deliver(session, message)
                seconds = outcome.seconds if outcome.status is not None else None
                self.ended.append(outcome)
        finally:
            self.shares.end(message.receiver, seconds)

    async def _finish(self) -> None:
        """Let calls end for a while, then give back what is left."""
        if self.calls:
            await asyncio.wait(self.calls, timeout=GRACE)
        left = [message.delivery_id for message in self.calls.values()]
        for task in list(self.calls):
            task.cancel()
        await self._in_database(self._book_end, left)

    def _book_end(self, left: list[int]) -> None:
        now = clock.now()
        if self.ended:
            mark(self.ended, lease=self.lease, now=now)
        claiming.give_back(left, lease=self.lease, now=now)

    async def _in_database(self, work: Callable[..., Any], *given: Any) -> Any:
        assert self.loop
        return await self.loop.run_in_executor(self.database, work, *given)


def pause_after(began: float, pulse: float = PULSE) -> float:
    """Seconds from a look that found nothing to the next one."""
    return max(pulse, (time.monotonic() - began) / BUSIEST)


async def deliver(session: aiohttp.ClientSession, message: Message) -> Outcome:
    """Try once."""
    now, began = clock.now(), time.monotonic()

    def outcome(**how: Any) -> Outcome:
        return Outcome(message, started_at=now, seconds=time.monotonic() - began, **how)

    if message.problem:
        return outcome(error=message.problem)
    try:
        headers = signing.sign(id=message.id, body=message.body, secrets=message.secrets, now=now)
        answer = await outbound.post(
            session,
            message.address,
            body=message.body,
            headers=headers | {"Content-Type": "application/json"},
            connect=CONNECT,
            total=TOTAL,
        )
    except outbound.Unreachable as error:
        return outcome(error=error.reason)
    except Exception:
        log.exception("delivery_failed", delivery_id=message.delivery_id)
        return outcome(error="Something went wrong here.")
    return outcome(status=answer.status, answer=answer.body, retry_after=retry_after(answer.headers, now))


def retry_after(headers: Mapping[str, str], now: datetime) -> timedelta | None:
    """How long the receiver asks to be left alone: in seconds, or until a date."""
    given = headers.get("Retry-After", "").strip()
    if given.isascii() and given.isdigit():
        return min(timedelta(seconds=int(given[:9])), LONGEST_RETRY_AFTER)
    try:
        return max(parsedate_to_datetime(given) - now, timedelta(0))
    except (ValueError, TypeError):
        return None
