import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import orjson
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from storefront.kit import clock
from storefront.product_files.importing import FORMATS, import_products
from storefront.product_files.parsed_products import Problem
from storefront.server.command import Command as Base
from storefront.server.command import add_shop_argument, find_shop

SOME_FAILED = 1


class Command(Base):
    help = "Import products from a file into a shop. Prints the counts as a JSON object at the end."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_shop_argument(parser)
        parser.add_argument(
            "file", type=Path, metavar="FILE", help="a product file: WooCommerce CSV, Shopify CSV or native JSON Lines"
        )
        parser.add_argument(
            "--format", choices=FORMATS, default="auto", help="file format (default: detected from the file)"
        )
        parser.add_argument(
            "--encoding", default="", metavar="NAME", help="such as windows-1251 (default: detected from the file)"
        )
        parser.add_argument("--update", action="store_true", help="update existing products instead of skipping them")
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="save nothing; print each change that would be made as a JSON line",
        )

    def handle(self, *, shop, file, format, encoding, update, dry_run, **_options) -> None:
        with self._progress() as progress:
            task = progress.add_task(file.name, total=None)
            report = import_products(
                shop=find_shop(shop),
                file=file,
                format=format,
                encoding=encoding,
                update=update,
                dry_run=dry_run,
                now=clock.now(),
                progress=lambda done, total: progress.update(task, completed=done, total=total),
                on_problem=lambda problem: self._report_problem(progress, problem),
                on_change=self._write_change if dry_run else None,
            )
        self.write_result(report.counts())
        if report.failed:
            sys.exit(SOME_FAILED)

    def _progress(self) -> Progress:
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
        )
        return Progress(*columns, console=Console(stderr=True), disable=not self.is_in_terminal, transient=True)

    def _report_problem(self, progress: Progress, problem: Problem) -> None:
        text = f"{problem.severity}: {problem}"
        if self.is_in_terminal:
            progress.console.print(text, markup=False, highlight=False)
        else:
            self.write_message(text)

    def _write_change(self, change: dict[str, Any]) -> None:
        self.write_result(orjson.dumps(change, default=str).decode())
