"""Where files are stored: `default_storage` has pictures, which everybody may see, `private_files()` has all others.

Both are directories or S3 buckets (`kit/s3.py`), so nothing may rely on a file's path: web processes and workers can be
on different machines.
"""

from mimetypes import guess_type

from django.core.files.storage import Storage, default_storage, storages

# Content types that browsers show. Files of all others, such as SVG and HTML, could run scripts.
SHOWN_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp", "image/avif")
MAX_AGE_SECONDS = 86400


class StorageUnavailable(OSError):
    """The storage did not answer, or refused. The message is for the log."""


def private_files() -> Storage:
    """Storage of uploads that only the shop may read, and of files that it sells. Nothing in it has a URL; pages that
    serve a file of it decide who may have it."""
    return storages["private"]


def is_remote() -> bool:
    """Whether pictures are stored where reading one takes a call over the network."""
    try:
        default_storage.path("")
    except NotImplementedError:
        return True
    return False


def content_type(name: str) -> str:
    """The type that a file's name says, which is all that counts: browsers that upload can say anything."""
    return guess_type(name)[0] or "application/octet-stream"
