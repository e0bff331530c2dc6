import io
import os
import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path
from typing import IO

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from storefront.catalogue.exporting import FORMATS, export_products
from storefront.server.command import Command as Base
from storefront.server.command import Failed, add_shop_argument, shop_named
from storefront.shops.models import Shop


class Command(Base):
    help = "Write a shop's products to a file, or to stdout."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_shop_argument(parser)
        parser.add_argument("file", type=Path, nargs="?", metavar="FILE", help="default: stdout")
        parser.add_argument(
            "--format", choices=FORMATS, default="native", help="default: %(default)s, which loses nothing"
        )

    def handle(self, *, shop, file, format, **_options) -> None:
        found = shop_named(shop)
        if file is None:
            # UTF-8 with its line ends as they are, whatever the terminal's language.
            self._export(
                found, format, io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="", write_through=True)
            )
            return
        try:
            exported = self._export_to(found, format, file)
        except OSError as error:
            raise Failed(f"The file {file} cannot be written: {error.strerror}.") from None
        self.answer({"exported": exported})

    def _export_to(self, shop: Shop, format: str, file: Path) -> int:
        """The whole file or the one that was there: it takes its place when it is complete."""
        handle, name = tempfile.mkstemp(dir=file.absolute().parent, prefix=f".{file.name}.")
        try:
            with open(handle, "w", encoding="utf-8", newline="") as out:
                exported = self._export(shop, format, out)
            os.chmod(name, 0o644)
            os.replace(name, file)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        return exported

    def _export(self, shop: Shop, format: str, out: IO[str]) -> int:
        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), disable=not self.is_watched, transient=True) as progress:
            task = progress.add_task("products", total=None)
            return export_products(
                shop=shop,
                format=format,
                out=out,
                progress=lambda done, total: progress.update(task, completed=done, total=total),
            )
