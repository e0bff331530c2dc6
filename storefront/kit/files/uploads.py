"""Bounds requests with files, and cleans the names of uploaded files."""

import re
from pathlib import PurePosixPath
from typing import Any, NoReturn
from unicodedata import category, normalize

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import FileUploadHandler

# Bytes of a form besides its files.
MAX_FIELDS_BYTES = 1024 * 1024
MAX_NAME_LENGTH = 150
# Characters that some system does not allow in a file's name.
_REFUSED = re.compile(r'[<>:"/\\|?*]')


def largest_body() -> int:
    """The maximum bytes of a request with files."""
    return settings.UPLOAD_BYTES + MAX_FIELDS_BYTES


def too_large() -> str:
    """The message for a file that is larger than UPLOAD_BYTES."""
    mebibytes = settings.UPLOAD_BYTES / 1024 / 1024
    return f"Files up to {mebibytes:.0f} MiB can be uploaded." if mebibytes >= 1 else "The file is too large."


def cleaned_name(name: str) -> str:
    """The last part of an uploaded file's name, safe to store on every system: without control characters, marks that
    change the direction of text, and leading dots. Never empty and at most MAX_NAME_LENGTH
    characters, with the same ending."""
    last = normalize("NFC", name).replace("\\", "/").rpartition("/")[2]
    shown = "".join(each for each in last if category(each)[0] != "C")
    path = PurePosixPath(" ".join(_REFUSED.sub("", shown).split()).strip(". ") or "file")
    ending = path.suffix[:20]
    return path.stem[: MAX_NAME_LENGTH - len(ending)].rstrip() + ending


class BoundedUploads(FileUploadHandler):
    """The first upload handler: refuses a larger body before a byte of it is written to disk.

    It trusts Content-Length, since the server does not read past it.
    """

    def handle_raw_input(
        self,
        input_data: Any,
        META: Any,  # noqa: N803
        content_length: int,
        boundary: Any,
        encoding: Any = None,
    ) -> None:
        if content_length > largest_body():
            refuse()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        return raw_data

    def file_complete(self, file_size: int) -> None:
        return None


def refuse() -> NoReturn:
    raise RequestDataTooBig(too_large())
