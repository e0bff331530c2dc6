"""Keeps parsed products in a temporary file between the comparison of an update and its writing, so that memory stays
flat and only products that differ are read twice."""

import pickle
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager

from storefront.product_files.parsed_products import ParsedProduct

# Products that are pickled together, so that they share texts such as the names of fields.
_PICKLED_PRODUCTS = 200


class Spool(AbstractContextManager["Spool"]):
    """Parsed products in the order of the file. It is as large as what the file states of them, which the bound of
    uploads limits."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115, closed by `__exit__`
        self._waiting: list[ParsedProduct] = []
        self.size = 0

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def add(self, parsed: ParsedProduct) -> None:
        self._waiting.append(parsed)
        if len(self._waiting) == _PICKLED_PRODUCTS:
            self._write()

    def products(self) -> Iterator[ParsedProduct]:
        """Yield the products that were added, once. Nothing is added later."""
        self._write()
        self._file.seek(0)
        while self._file.tell() < self.size:
            yield from pickle.load(self._file)  # noqa: S301, this process wrote it

    def position(self) -> int:
        """The bytes that were read so far."""
        return self._file.tell()

    def _write(self) -> None:
        pickle.dump(self._waiting, self._file, pickle.HIGHEST_PROTOCOL)
        self._waiting.clear()
        self.size = self._file.tell()
