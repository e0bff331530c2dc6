"""The largest size of a request with files."""

from typing import Any, NoReturn

from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import FileUploadHandler

LARGEST_UPLOAD = 200 * 1024 * 1024
# The file and the rest of the multipart body around it, in bytes.
LARGEST_BODY = LARGEST_UPLOAD + 1024 * 1024


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
        if content_length > LARGEST_BODY:
            refuse()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        return raw_data

    def file_complete(self, file_size: int) -> None:
        return None


def refuse() -> NoReturn:
    raise RequestDataTooBig(f"Files up to {LARGEST_UPLOAD // 1024 // 1024} MiB can be uploaded.")
