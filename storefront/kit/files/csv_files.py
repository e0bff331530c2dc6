"""CSV files that are sent while they are written."""

import csv
from collections.abc import Iterable, Iterator

from django.http import StreamingHttpResponse

from storefront.kit.files.spreadsheets import escape_formula

# Rows that are sent together.
CHUNK_ROWS = 500


class _Echo:
    def write(self, text: str) -> str:
        return text


def csv_response(name: str, header: list[str], rows: Iterable[list[str]]) -> StreamingHttpResponse:
    """A download of these rows, in UTF-8 with a byte order mark for spreadsheets. Cells are escaped so that none is a
    formula."""
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
    }
    return StreamingHttpResponse(_chunks(header, rows), content_type="text/csv; charset=utf-8", headers=headers)


def _chunks(header: list[str], rows: Iterable[list[str]]) -> Iterator[bytes]:
    writer = csv.writer(_Echo())
    chunk = ["\ufeff", writer.writerow(header)]
    for row in rows:
        chunk.append(writer.writerow(list(map(escape_formula, row))))
        if len(chunk) >= CHUNK_ROWS:
            yield "".join(chunk).encode()
            chunk = []
    yield "".join(chunk).encode()
