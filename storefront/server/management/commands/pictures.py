import asyncio
import signal
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import MofNCompleteColumn

from storefront.kit import clock
from storefront.pictures import requesting
from storefront.pictures.fetching import Fetcher
from storefront.pictures.queries import waiting_and_failed
from storefront.pictures.storing import Outcome
from storefront.server.command import Command as Base
from storefront.server.command import add_shop_argument, find_shop
from storefront.server.progress import progress_bar, write_beside
from storefront.shops.models import Shop

SOME_FAILED = 1


class Command(Base):
    help = "Fetch the waiting pictures of imported products now. Prints the counts as a JSON object at the end."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_shop_argument(parser)
        parser.add_argument("--retry-failed", action="store_true", help="also fetch pictures that failed before")
        parser.add_argument(
            "--all",
            action="store_true",
            help="also fetch pictures that were left at their addresses, such as those of imports with --no-pictures",
        )

    def handle(self, *, shop, retry_failed: bool, all: bool, **_options) -> None:
        found, now = find_shop(shop), clock.now()
        if retry_failed:
            requesting.retry_failed(shop=found, now=now)
        if all:
            requesting.request_missing(shop=found, now=now)
        fetched = self._fetch(found)
        left = waiting_and_failed(found)
        self.write_result({"fetched": fetched, "waiting": left.waiting, "failed": left.failed})
        if left.waiting:
            self.write_message("The worker tries the waiting ones again later.")
        if left.failed:
            sys.exit(SOME_FAILED)

    def _fetch(self, shop: Shop) -> int:
        """Fetch until no picture of the shop is due, or Ctrl-C; returns how many were fetched."""
        fetched = 0
        with progress_bar(MofNCompleteColumn()) as progress:
            task = progress.add_task("Pictures", total=waiting_and_failed(shop).waiting)

            def show(outcomes: list[Outcome]) -> None:
                nonlocal fetched
                fetched += sum(outcome.picture is not None for outcome in outcomes)
                progress.advance(task, len(outcomes))
                for outcome in outcomes:
                    if outcome.reason:
                        write_beside(progress, f"{outcome.job.url}: {outcome.reason}")

            fetcher = Fetcher(shop, on_outcomes=show)
            with stopped_by_signals(fetcher):
                asyncio.run(fetcher.run())
        return fetched


@contextmanager
def stopped_by_signals(fetcher: Fetcher) -> Iterator[None]:
    """Ctrl-C and SIGTERM stop the fetcher in good order: downloads end, and leases are released."""
    before = {each: signal.signal(each, lambda *_: fetcher.stop()) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
