"""Helpers to write workbooks."""

import io
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from openpyxl import Workbook


def workbook(*sheets: list[list[Any]]) -> bytes:
    """A workbook with these sheets, each a list of rows."""
    book = Workbook()
    book.remove(book.worksheets[0])
    for number, rows in enumerate(sheets, 1):
        sheet = book.create_sheet(f"Sheet {number}")
        for row in rows:
            sheet.append(row)
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def with_part(content: bytes, name: str, text: bytes) -> bytes:
    """The workbook with another text in one of its parts."""
    changed = io.BytesIO()
    with ZipFile(io.BytesIO(content)) as before, ZipFile(changed, "w", ZIP_DEFLATED) as after:
        for part in before.namelist():
            if part != name:
                after.writestr(part, before.read(part))
        after.writestr(name, text)
    return changed.getvalue()
