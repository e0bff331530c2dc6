import io
import os
import sys
from argparse import ArgumentParser
from collections import Counter
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import IO

from storefront.kit import clock
from storefront.product_files.exporting import FORMATS, export_products, record_export
from storefront.product_files.losses import Losses, sentences
from storefront.server.command import Command as Base
from storefront.server.command import Failed, add_shop_argument, find_shop, replaced_file
from storefront.server.progress import progress_bar
from storefront.shops.models import Shop

# Processes that read the database at the same time.
MAX_PROCESSES = 2


class Command(Base):
    help = "Export a shop's products to a file or to stdout."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_shop_argument(parser)
        parser.add_argument("file", type=Path, nargs="?", metavar="FILE", help="default: stdout")
        parser.add_argument(
            "--format", choices=FORMATS, default="native", help="file format (default: %(default)s, which is complete)"
        )

    def handle(self, *, shop, file, format, **_options) -> None:
        try:
            self._export_file(find_shop(shop), file, format)
        except BrokenProcessPool:
            raise Failed(
                "A process of the export was killed, perhaps for want of memory. The export stopped."
            ) from None

    def _export_file(self, shop: Shop, file: Path | None, format: str) -> None:
        if file is None:
            # UTF-8 with unchanged line ends, whatever the terminal's locale.
            self._export(
                shop,
                format,
                io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="", write_through=True),
            )
            return
        if file.exists() and not file.is_file():
            # A device or a pipe is written to.
            try:
                with file.open("w", encoding="utf-8", newline="") as out:
                    exported = self._export(shop, format, out)
            except OSError as error:
                raise Failed(f"The file {file} cannot be written: {error.strerror}.") from None
        else:
            with replaced_file(file) as draft, draft.open("w", encoding="utf-8", newline="") as out:
                exported = self._export(shop, format, out)
                os.chmod(draft, 0o644)
        self.write_result({"exported": exported})

    def _export(self, shop: Shop, format: str, out: IO[str]) -> int:
        lost: Losses = Counter()
        with progress_bar() as progress:
            task = progress.add_task("products", total=None)
            exported = export_products(
                shop=shop,
                format=format,
                out=out,
                progress=lambda done, total: progress.update(task, completed=done, total=total),
                processes=min(os.cpu_count() or 1, MAX_PROCESSES),
                lost=lost,
            )
        record_export(shop=shop, format=format, products=exported, lost=lost, now=clock.now())
        for sentence in sentences(format, lost):
            self.write_message(sentence)
        return exported
