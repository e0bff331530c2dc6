"""How large a request with files may be."""

from typing import Any, NoReturn

from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import FileUploadHandler

LARGEST_UPLOAD = 200 * 1024 * 1024
# What stands around the file in the request.
_ENVELOPE = 1024 * 1024


class BoundedUploads(FileUploadHandler):
    """First of the handlers: refuses a larger body before a byte of it is written to disk.

    The length is the one the server was told and will not read past, so it cannot be understated.
    """

    def handle_raw_input(
        self,
        input_data: Any,
        META: Any,  # noqa: N803
        content_length: int,
        boundary: Any,
        encoding: Any = None,
    ) -> None:
        if content_length > LARGEST_UPLOAD + _ENVELOPE:
            refuse()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        return raw_data

    def file_complete(self, file_size: int) -> None:
        return None


def refuse() -> NoReturn:
    raise RequestDataTooBig(f"Files up to {LARGEST_UPLOAD // 1024 // 1024} MiB can be uploaded.")
