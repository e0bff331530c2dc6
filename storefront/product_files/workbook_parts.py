"""The parts of a workbook's archive, with bounds on what is unpacked of each, whatever the part is called.

What describes a workbook is parsed as a whole, at some seconds a megabyte, so little of it is read. Pictures and charts
are not read at all.
"""

from pathlib import Path
from typing import Any
from zipfile import ZipFile, ZipInfo

from django.utils.translation import gettext as _
from openpyxl.reader.excel import ExcelReader
from openpyxl.xml.constants import SHARED_STRINGS

from storefront.product_files.encodings import UnreadableFile

MAX_UNPACKED_BYTES = 200 << 20
MAX_PARTS = 10_000
# Bytes of all that is read as a whole: styles, relations, names and so on.
MAX_DESCRIBING_BYTES = 2 << 20
# Bytes of the texts that cells refer to.
MAX_TEXT_BYTES = 64 << 20
# A larger part that packs better than this repeats itself, which no table does.
MAX_RATIO, MAX_REPEATED_BYTES = 200, 1 << 20
_PICTURES = "xl/media/"
_ADVICE = "Save it again without formats, or save it as CSV UTF-8."


class _Archive(ZipFile):
    described = 0

    def read(self, name: Any, pwd: bytes | None = None) -> bytes:
        self.described += self.getinfo(name).file_size
        if self.described > MAX_DESCRIBING_BYTES:
            raise UnreadableFile(
                f"The Excel workbook has more than {MAX_DESCRIBING_BYTES:,} bytes of styles, names and the like. "
                + _ADVICE
            )
        return super().read(name, pwd)

    def open(self, name: Any, *args: Any, **named: Any) -> Any:
        part = name if isinstance(name, ZipInfo) else self.getinfo(name)
        repeats = part.file_size > MAX_RATIO * part.compress_size and part.file_size > MAX_REPEATED_BYTES
        if repeats or part.filename.startswith(_PICTURES):
            raise UnreadableFile(
                f"The part {part.filename[:100]} of the Excel workbook is not one of a table. {_ADVICE}"
            )
        return super().open(name, *args, **named)


class _Reader(ExcelReader):
    def read_strings(self) -> None:
        found = self.package.find(SHARED_STRINGS)
        if found is not None and self.archive.getinfo(found.PartName[1:]).file_size > MAX_TEXT_BYTES:
            raise UnreadableFile(
                _("The Excel workbook has more than %(most)s bytes of texts. Split it, or save it as CSV UTF-8.")
                % {"most": f"{MAX_TEXT_BYTES:,}"}
            )
        super().read_strings()

    def read_chartsheet(self, sheet: Any, rel: Any) -> None:
        """Nothing: it has no cells."""


def read_workbook(file: Any) -> Any:
    """The workbook in this open file, of which sheets are read row by row. Raises UnreadableFile."""
    reader = _Reader(file, read_only=True, data_only=True, keep_links=False)
    reader.archive = _Archive(file)
    reader.read()
    return reader.wb


def check_size(path: Path) -> None:
    """Raises UnreadableFile if the archive states more content than is unpacked."""
    with ZipFile(path) as archive:
        parts = archive.infolist()
    size = sum(part.file_size for part in parts if not part.filename.startswith(_PICTURES))
    if len(parts) > MAX_PARTS or size > MAX_UNPACKED_BYTES:
        raise UnreadableFile(
            _(
                "The Excel workbook has %(size)s bytes when it is unpacked; at most %(most)s are read. Split it, or "
                "save it as CSV UTF-8."
            )
            % {"size": f"{size:,}", "most": f"{MAX_UNPACKED_BYTES:,}"}
        )
