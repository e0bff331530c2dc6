import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import orjson
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from storefront.catalogue.importing import FORMATS, import_products
from storefront.catalogue.incoming import Problem
from storefront.kit import clock
from storefront.server.command import Command as Base
from storefront.server.command import add_shop_argument, shop_named

SOME_FAILED = 1


class Command(Base):
    help = "Bring the products of a file into a shop; ends with the counts as one JSON object."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_shop_argument(parser)
        parser.add_argument("file", type=Path, metavar="FILE", help="a product file of WooCommerce or Shopify, or ours")
        parser.add_argument("--format", choices=FORMATS, default="auto", help="default: found out from the file")
        parser.add_argument("--update", action="store_true", help="change products that stand already; else skip them")
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="write nothing; answer with a JSON line for each change there would be",
        )

    def handle(self, *, shop, file, format, update, dry_run, **_options) -> None:
        with self._progress() as progress:
            task = progress.add_task(file.name, total=None)
            report = import_products(
                shop=shop_named(shop),
                file=file,
                format=format,
                update=update,
                dry_run=dry_run,
                now=clock.now(),
                progress=lambda done, total: progress.update(task, completed=done, total=total),
                on_problem=lambda problem: self._tell(progress, problem),
                on_change=self._answer_change if dry_run else None,
            )
        self.answer(report.counts())
        if report.failed:
            sys.exit(SOME_FAILED)

    def _progress(self) -> Progress:
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
        )
        return Progress(*columns, console=Console(stderr=True), disable=not self.is_watched, transient=True)

    def _tell(self, progress: Progress, problem: Problem) -> None:
        text = f"{problem.severity}: {problem}"
        if self.is_watched:
            progress.console.print(text, markup=False, highlight=False)
        else:
            self.say(text)

    def _answer_change(self, change: dict[str, Any]) -> None:
        self.answer(orjson.dumps(change, default=str).decode())
