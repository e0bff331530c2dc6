"""The worker's delivery loop. One delivery takes these steps:

1. An action calls `actions.record_event` in its own transaction: an event without a sequence number.
2. `dispatch.dispatch` numbers the event and inserts a pending delivery for each webhook with its topic.
3. `claiming.due_receivers` finds receivers with due deliveries; `concurrency.CallLimiter` decides how many calls each
   may get now.
4. `claiming.claim` leases that many deliveries to this worker; `messages.message_of` builds the body of each.
5. `deliver`, below, signs the message (`signing.sign`) and posts it (`kit/outbound.py`).
6. `recording.record_outcomes` stores the attempt, and ends the delivery or schedules its next attempt
   (`rules.next_wait`).

The loop repeats `Deliverer._run_turn`. A turn uses the database once, in a thread of its own, so that the event loop
never waits for it: it records ended calls (6), dispatches (2) and claims (3, 4). Then it starts the calls (5), which
run concurrently while turns go on. Every step works in batches.
"""

import asyncio
import secrets
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from itertools import count
from threading import Event
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import structlog
from django.db import InterfaceError, OperationalError, connections

from storefront.kit import clock, outbound, tracing
from storefront.webhooks import claiming, signing
from storefront.webhooks.concurrency import CallLimiter
from storefront.webhooks.dispatch import dispatch
from storefront.webhooks.messages import Message
from storefront.webhooks.recording import Outcome, record_outcomes

log = structlog.get_logger(__name__)

# Seconds for one call (R-HOOK-11).
CONNECT, TOTAL = 3.0, 10.0
# Seconds that an idle connection is kept for its next call: less than servers keep theirs.
KEEP_ALIVE_SECONDS = 1.0
# Seconds between database queries while there is nothing to do, so the longest time that an event waits. The second
# value applies after QUIET_AFTER_POLLS queries in a row have found nothing.
POLL_SECONDS, QUIET_POLL_SECONDS, QUIET_AFTER_POLLS = 0.05, 0.15, 40
# Seconds between turns while there is something to do, so that each turn has a batch to write.
PAUSE_SECONDS = 0.01
# Share of the time that queries which find nothing may take. They are slow while the table is vacuumed, for example.
BUSY_POLL_SECONDS = 0.05
# Longest pause in seconds between queries. Outcomes must be recorded before the leases end, or another worker sends the
# deliveries again; and a database that stalled once is not slow for ever.
MAX_PAUSE_SECONDS = 1.0
# Calls of `due_receivers` in one turn, if no receiver that it returned has a free slot.
MAX_LOOKS = 10
# Seconds before trying again when the database cannot be reached.
RETRY_SECONDS = 2.0
# Seconds that calls in flight have to end after `stop`.
STOP_GRACE_SECONDS = 7.0


class Deliverer:
    """Runs until `stop` is called, from any thread. Several may run at the same time, each with its own lease."""

    def __init__(self) -> None:
        self.lease = secrets.token_hex(16)
        self.limiter = CallLimiter()
        # Outcomes of ended calls that are not recorded yet.
        self.ended: list[Outcome] = []
        self.calls: dict[asyncio.Task[None], Message] = {}
        self.last_receiver = -1
        # On the monotonic clock, for the deliveries that the latest turn claimed.
        self.lease_ends = 0.0
        self.loop: asyncio.AbstractEventLoop | None = None
        # Both are set by `stop`: one wakes the event loop, the other the database thread.
        self.wake_loop = asyncio.Event()
        self.stopping = Event()

    def stop(self) -> None:
        """Start no more calls. `run` returns when those in flight have ended, after STOP_GRACE_SECONDS at most."""
        self.stopping.set()
        if self.loop:
            self.loop.call_soon_threadsafe(self.wake_loop.set)

    async def run(self) -> None:
        self.loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1, thread_name_prefix="deliveries") as self.database:
            try:
                async with outbound.open_session(keep=KEEP_ALIVE_SECONDS) as session:
                    try:
                        while not self.stopping.is_set():
                            await self._sleep(await self._run_turn(session))
                    finally:
                        # Also after an error in a turn: answered messages must not be sent again by another worker.
                        await self._finish()
            finally:
                await self._in_database(connections.close_all)

    async def _run_turn(self, session: aiohttp.ClientSession) -> float:
        """Record ended calls, claim deliveries and start calling their receivers. Returns the seconds to sleep."""
        began = time.monotonic()
        ended, self.ended = self.ended, []
        try:
            messages = await self._in_database(self._next_messages, ended)
        except (OperationalError, InterfaceError) as error:
            log.warning("database_away", reason=str(error).strip())
            # Kept until the database is back. Deliveries whose lease ends before that are sent again by any worker.
            self.ended = ended + self.ended
            await self._in_database(connections.close_all)
            return RETRY_SECONDS
        for message in self._without_unrecorded(messages):
            self._start_call(session, message, until=self.lease_ends)
        return PAUSE_SECONDS if messages or ended or self.ended else pause_after(began)

    async def _sleep(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self.wake_loop.wait(), seconds)

    def _next_messages(self, ended: list[Outcome]) -> list[Message]:
        """Record these outcomes and claim the next messages. While no call is in flight and no outcome is unrecorded,
        the database thread waits for messages here, which costs a tenth of returning to the event loop each time."""
        for look in count():
            began = time.monotonic()
            messages = self._record_and_claim(ended)
            pulse = POLL_SECONDS if look < QUIET_AFTER_POLLS else QUIET_POLL_SECONDS
            # A call may end during the query: then it is no longer in `calls`, but its outcome is in `self.ended`.
            if messages or ended or self.calls or self.ended or self.stopping.wait(pause_after(began, pulse)):
                break
        return messages

    def _record_and_claim(self, ended: list[Outcome]) -> list[Message]:
        """The database's part of a turn. Returns the messages to send now."""
        now = clock.now()
        if ended:
            record_outcomes(ended, lease=self.lease, now=now)
        events, due, held = claiming.find_work(now)
        if events:
            dispatch(now)
        if held:
            claiming.release_held(now)
        if not (events or due or held):
            return []
        now = clock.now()
        slots = self._slots_of_due_receivers(now)
        self.lease_ends = time.monotonic() + claiming.LEASE.total_seconds()
        return claiming.claim(slots, lease=self.lease, now=now)

    def _slots_of_due_receivers(self, now: datetime) -> dict[int, int]:
        """The next receivers that have both due deliveries and free slots, each with the number of its free slots."""
        slots: dict[int, int] = {}
        for _ in range(MAX_LOOKS):
            receivers, self.last_receiver = claiming.due_receivers(now, after=self.last_receiver)
            # Safe in this thread: the event loop starts no call during a turn, so it only frees slots meanwhile.
            slots = self.limiter.free_slots(receivers)
            if slots or self.last_receiver == -1:
                break
        return slots

    def _without_unrecorded(self, messages: list[Message]) -> list[Message]:
        """Leave out deliveries that this worker is sending or has sent, and has claimed again because their lease ended
        while the database delayed this turn. The next turn records them."""
        if not messages:
            return []
        sent = {message.delivery_id for message in (*self.calls.values(), *(each.message for each in self.ended))}
        return [message for message in messages if message.delivery_id not in sent]

    def _start_call(self, session: aiohttp.ClientSession, message: Message, until: float) -> None:
        self.limiter.begin(message.receiver)
        task = asyncio.create_task(self._call(session, message, until))
        self.calls[task] = message
        task.add_done_callback(self.calls.pop)

    async def _call(self, session: aiohttp.ClientSession, message: Message, until: float) -> None:
        seconds = None
        try:
            # If this machine was asleep or overloaded, the lease may end before the call does.
            if time.monotonic() + TOTAL < until:
                outcome = await deliver(session, message)
                seconds = outcome.seconds if outcome.status is not None else None
                self.ended.append(outcome)
        finally:
            self.limiter.end(message.receiver, seconds)

    async def _finish(self) -> None:
        """Let calls in flight end for up to STOP_GRACE_SECONDS, record their outcomes, and release the leases of the
        rest. If the database cannot be reached, try again until STOP_GRACE_SECONDS are over."""
        deadline = time.monotonic() + STOP_GRACE_SECONDS
        if self.calls:
            await asyncio.wait(self.calls, timeout=STOP_GRACE_SECONDS)
        unfinished = [message.delivery_id for message in self.calls.values()]
        for task in list(self.calls):
            task.cancel()
        while True:
            try:
                return await self._in_database(self._record_and_release, unfinished)
            except (OperationalError, InterfaceError) as error:
                log.warning("database_away", reason=str(error).strip())
                await self._in_database(connections.close_all)
                if time.monotonic() + POLL_SECONDS > deadline:
                    raise
                await asyncio.sleep(POLL_SECONDS)

    def _record_and_release(self, unfinished: list[int]) -> None:
        now = clock.now()
        if self.ended:
            record_outcomes(self.ended, lease=self.lease, now=now)
        claiming.release_leases(unfinished, lease=self.lease, now=now)

    async def _in_database(self, function: Callable[..., Any], *arguments: Any) -> Any:
        assert self.loop
        return await self.loop.run_in_executor(self.database, function, *arguments)


def pause_after(began: float, pulse: float = POLL_SECONDS) -> float:
    """Seconds from a query that began at `began` and found nothing to the next one: more if the query was slow, but at
    most MAX_PAUSE_SECONDS, however long the database stalled."""
    return min(max(pulse, (time.monotonic() - began) / BUSY_POLL_SECONDS), MAX_PAUSE_SECONDS)


async def deliver(session: aiohttp.ClientSession, message: Message) -> Outcome:
    """Make one attempt. Errors of any kind become an outcome."""
    # Only the host: paths and queries of receivers may have secrets.
    host = urlsplit(message.address).hostname or ""
    with tracing.span("webhook", "client", server__address=host, storefront__delivery=message.delivery_id):
        outcome = await _attempt(session, message)
        if outcome.status is None:
            tracing.annotate(error__type="unreachable")
        else:
            tracing.annotate(http__response__status_code=outcome.status)
        return outcome


async def _attempt(session: aiohttp.ClientSession, message: Message) -> Outcome:
    now, began = clock.now(), time.monotonic()

    def outcome(**result: Any) -> Outcome:
        return Outcome(message, started_at=now, seconds=time.monotonic() - began, **result)

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
        return outcome(error="Internal error.")
    return outcome(status=answer.status, answer=answer.body, retry_after=outbound.retry_after(answer.headers, now))
