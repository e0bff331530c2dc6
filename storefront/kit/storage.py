"""Where files are stored: `default_storage` has pictures, which everybody may see, `private_files()` has all others.

Both are directories or S3 buckets (`kit/files/s3.py`), so nothing may rely on a file's path: web processes and workers
can be on different machines.
"""

from mimetypes import guess_type

from django.core.files.storage import Storage, default_storage, storages

# Content types that browsers may show. Others, such as SVG and HTML, could run scripts.
SHOWN_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp", "image/avif")
MAX_AGE_SECONDS = 86400


class StorageUnavailable(OSError):
    """The storage did not answer, or refused. The message is for the log."""


def private_files() -> Storage:
    """The storage of uploads that only the shop may read, and of files that it sells. Its files have no URL; the page
    that serves a file checks access."""
    return storages["private"]


def is_remote() -> bool:
    """Returns True if reading a picture takes a call over the network."""
    try:
        default_storage.path("")
    except NotImplementedError:
        return True
    return False


def content_type(name: str) -> str:
    """The content type by the file's name. The type that an uploading browser sends is not trusted."""
    return guess_type(name)[0] or "application/octet-stream"
