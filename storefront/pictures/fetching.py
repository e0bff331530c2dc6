"""The loop that fetches pictures: in the worker for all shops, in `storefront pictures` for one until nothing is due.

It repeats `Fetcher._run_turn`. A turn uses the database once, in a thread of its own, so that the downloads never wait
for it: it records ended downloads (`storing.py`), takes up some of what imports asked for (`taking_up.py`), and claims
as many pictures as may begin (`claiming.py`). Then it starts their downloads (`downloading.py`), which run concurrently
while turns go on.

From one host, one worker downloads at most MAX_PER_HOST pictures at a time, with a pause after each; a host that
answers 429 or 503 gets no call for as long as it asks. Shops and hosts take turns.
"""

import asyncio
import secrets
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import aiohttp
import structlog
from django.db import InterfaceError, OperationalError, connections

from storefront.kit import clock, outbound
from storefront.kit.storage import StorageUnavailable
from storefront.pictures import claiming, rules
from storefront.pictures.claiming import Job
from storefront.pictures.downloading import fetch
from storefront.pictures.storing import Outcome, record_outcomes
from storefront.pictures.taking_up import take_up
from storefront.shops.models import Shop

log = structlog.get_logger(__name__)

# Seconds between turns that find nothing to do; two small reads each.
POLL_SECONDS = 1.0
# Seconds between turns while downloads end, so that each turn has a batch to record.
BATCH_SECONDS = 0.1
# Pairs of shop and host that one turn looks at; the next turn continues after them.
MAX_LOOKS = 50
# Seconds before trying again a database that cannot be reached.
RETRY_SECONDS = 2.0
# Seconds that downloads have to end after `stop`.
STOP_GRACE_SECONDS = 6.0
START = (-1, "")


class Fetcher:
    """Runs until `stop` is called, from any thread; with a shop, also until none of its pictures is due. Several may
    run at the same time, each with its own lease. `on_outcomes` is called with the outcomes that were recorded."""

    def __init__(
        self, shop: Shop | None = None, on_outcomes: Callable[[list[Outcome]], None] = lambda _outcomes: None
    ) -> None:
        self.shop, self.on_outcomes = shop, on_outcomes
        self.lease = secrets.token_hex(16)
        self.downloads: dict[asyncio.Task[None], Job] = {}
        # Occupied slots, by host: downloads, and the pauses after them.
        self.occupied: Counter[str] = Counter()
        # The time on the monotonic clock until which a host gets no call.
        self.paused_until: dict[str, float] = {}
        self.ended: list[Outcome] = []
        self.last_host = START
        self.loop: asyncio.AbstractEventLoop | None = None
        self.wake = asyncio.Event()
        self.is_stopping = self.is_taking_up = False

    def stop(self) -> None:
        """Start no more downloads. `run` returns when those in flight have ended, after STOP_GRACE_SECONDS at most."""
        self.is_stopping = True
        if self.loop:
            self.loop.call_soon_threadsafe(self.wake.set)

    async def run(self) -> None:
        self.loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1, thread_name_prefix="pictures") as self.database:
            try:
                async with outbound.open_session() as session:
                    try:
                        while not self.is_stopping:
                            await self._run_turn(session)
                    finally:
                        await self._finish()
            finally:
                await self._in_database(connections.close_all)

    async def _run_turn(self, session: aiohttp.ClientSession) -> None:
        ended, self.ended = self.ended, []
        self.wake.clear()
        try:
            jobs, is_done = await self._in_database(self._record_and_claim, ended)
        except (OperationalError, InterfaceError, StorageUnavailable) as error:
            is_storage = isinstance(error, StorageUnavailable)
            log.warning("storage_away" if is_storage else "database_away", reason=str(error).strip())
            self.ended = ended + self.ended
            await self._in_database(connections.close_all)
            await self._sleep(RETRY_SECONDS)
            return
        for job in jobs:
            self._start(session, job)
        if is_done and not self.downloads and not self.ended:
            self.is_stopping = True
        elif ended or jobs or self.is_taking_up:
            await asyncio.sleep(BATCH_SECONDS)
        else:
            await self._sleep(POLL_SECONDS)

    async def _sleep(self, seconds: float) -> None:
        """Sleep until a download ends, a slot of a host is free again, or the seconds are over."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.wake.wait(), seconds)

    def _record_and_claim(self, ended: list[Outcome]) -> tuple[list[Job], bool]:
        """The database's part of a turn. Returns the pictures to fetch now, and whether the shop has none left."""
        self._record(ended)
        if self.is_stopping:
            return [], False
        # Takes up some requests in each turn, so that the first pictures of a large import are fetched meanwhile.
        self.is_taking_up = take_up(shop=self.shop) > 0
        jobs = self._claim()
        if self.shop is None or jobs or self.downloads:
            return jobs, False
        return [], not claiming.is_any_left(self.shop, besides=self._paused_hosts(), now=clock.now())

    def _record(self, ended: list[Outcome]) -> None:
        if not ended:
            return
        record_outcomes(ended, lease=self.lease, now=clock.now())
        for outcome in ended:
            if outcome.picture:
                outcome.picture.file.close()
        self.on_outcomes(ended)

    def _claim(self) -> list[Job]:
        """Lease pictures at the next hosts that have free slots."""
        jobs: list[Job] = []
        paused, begun = self._paused_hosts(), Counter(self.occupied)
        is_second_round = self.last_host == START
        for _ in range(MAX_LOOKS):
            free_in_all = rules.MAX_AT_ONCE - begun.total()
            if free_in_all <= 0:
                break
            found = claiming.next_host(self.last_host, shop=self.shop, now=clock.now())
            if found is None:
                self.last_host = START
                if is_second_round:
                    break
                is_second_round = True
                continue
            shop_id, host, is_due = found
            self.last_host = (shop_id, host)
            free = min(free_in_all, rules.MAX_PER_HOST - begun[host])
            if is_due and free > 0 and host not in paused:
                claimed = claiming.claim(shop_id, host, free, lease=self.lease, now=clock.now())
                begun[host] += len(claimed)
                jobs += claimed
        return jobs

    def _paused_hosts(self) -> set[str]:
        now = time.monotonic()
        self.paused_until = {host: until for host, until in self.paused_until.items() if until > now}
        return set(self.paused_until)

    def _start(self, session: aiohttp.ClientSession, job: Job) -> None:
        self.occupied[job.host] += 1
        task = asyncio.create_task(self._download(session, job))
        self.downloads[task] = job
        task.add_done_callback(self._forget)

    async def _download(self, session: aiohttp.ClientSession, job: Job) -> None:
        outcome = await fetch(session, job)
        if outcome.retry_after is not None:
            self.paused_until[job.host] = time.monotonic() + outcome.retry_after.total_seconds()
        self.ended.append(outcome)

    def _forget(self, task: asyncio.Task[None]) -> None:
        job = self.downloads.pop(task)
        self.wake.set()
        assert self.loop
        self.loop.call_later(rules.PAUSE_SECONDS, self._free_place, job.host)

    def _free_place(self, host: str) -> None:
        self.occupied[host] -= 1
        if not self.occupied[host]:
            del self.occupied[host]
        self.wake.set()

    async def _finish(self) -> None:
        """Let downloads end for up to STOP_GRACE_SECONDS, record them, and release the leases of the others."""
        if self.downloads:
            await asyncio.wait(self.downloads, timeout=STOP_GRACE_SECONDS)
        unfinished = [job.media_id for job in self.downloads.values()]
        for task in list(self.downloads):
            task.cancel()
        try:
            await self._in_database(self._record, self.ended)
            await self._in_database(self._release, unfinished)
        except (OperationalError, InterfaceError) as error:
            # The leases expire by themselves.
            log.warning("database_away", reason=str(error).strip())

    def _release(self, ids: list[int]) -> None:
        claiming.release(ids, lease=self.lease, now=clock.now())

    async def _in_database(self, function: Callable[..., Any], *arguments: Any) -> Any:
        assert self.loop
        return await self.loop.run_in_executor(self.database, function, *arguments)
