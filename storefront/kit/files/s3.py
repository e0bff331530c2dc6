"""Files in a bucket of S3, or of a service that speaks its protocol. Needs the extra `s3`."""

import posixpath
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from boto3.exceptions import Boto3Error
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ConnectionError, HTTPClientError
from django.core.exceptions import SuspiciousFileOperation
from django.core.files import File
from django.utils.encoding import filepath_to_uri
from storages.backends.s3 import S3Storage
from storages.utils import clean_name

from storefront.kit.storage import MAX_AGE_SECONDS, SHOWN_TYPES, StorageUnavailable, content_type

# Seconds, for each of two attempts, and between two parts of an answer.
CONNECT_SECONDS, READ_SECONDS, ATTEMPTS = 3, 10, 2
# Bytes up to which a file that is read stays in memory.
IN_MEMORY = 1024 * 1024
MAX_NAME_BYTES = 1024


class S3Files(S3Storage):
    """Files of one bucket. Each gets a new unique name, unless `file_overwrite` is set. `base_url` is the URL for
    browsers, None for private files.

    Raises FileNotFoundError, or StorageUnavailable.
    """

    base_url: str | None

    def get_default_settings(self) -> dict[str, Any]:
        return super().get_default_settings() | {
            "base_url": None,
            "file_overwrite": False,
            "max_memory_size": IN_MEMORY,
            "client_config": Config(
                # Without this, boto would sign the URLs of `signed_url` with an older version.
                signature_version="s3v4",
                connect_timeout=CONNECT_SECONDS,
                read_timeout=READ_SECONDS,
                retries={"total_max_attempts": ATTEMPTS, "mode": "standard"},
            ),
        }

    def url(self, name: str, *_: Any, **__: Any) -> str:
        if self.base_url is None:
            raise ValueError("A private file has no URL.")
        return self.base_url + filepath_to_uri(name).lstrip("/")

    def signed_url(self, name: str, *, headers: dict[str, str], seconds: int) -> str:
        """A URL at which anybody can get the file for this many seconds. The bucket answers it with these headers, of
        which only Content-Type and Content-Disposition are known."""
        given = {f"Response{header.replace('-', '')}": value for header, value in headers.items()}
        given |= {"Bucket": self.bucket_name, "Key": self._normalize_name(clean_name(name))}
        with translated_errors():
            return self.bucket.meta.client.generate_presigned_url("get_object", Params=given, ExpiresIn=seconds)

    def get_available_name(self, name: str, max_length: int | None = None) -> str:
        """Return a new unique name, since another machine could take a free name meanwhile."""
        if not self.file_overwrite:
            folder, file = posixpath.split(clean_name(name))
            name = posixpath.join(folder, self.get_alternative_name(*posixpath.splitext(file)))
        return super().get_available_name(name, max_length)

    def get_object_parameters(self, name: str) -> dict[str, Any]:
        """The headers that a bucket or CDN sends with the file."""
        found = super().get_object_parameters(name) | {"ContentType": content_type(name)}
        if self.base_url is not None:
            found["CacheControl"] = f"public, max-age={MAX_AGE_SECONDS}"
            if found["ContentType"] not in SHOWN_TYPES:
                found["ContentDisposition"] = "attachment"
        return found

    def require_bucket(self) -> None:
        """Raises ValueError if the bucket does not exist or may not be used, StorageUnavailable if the service does not
        answer."""
        # A client of its own, since the server forks after this.
        client = self._create_session().client("s3", config=self.client_config)
        try:
            client.head_bucket(Bucket=self.bucket_name)
        except (HTTPClientError, ConnectionError) as error:
            raise StorageUnavailable(str(error)) from error
        except (BotoCoreError, ClientError) as error:
            raise ValueError(f"The bucket {self.bucket_name} cannot be used: {error}") from error
        finally:
            client.close()

    def exists(self, name: str) -> bool:
        with translated_errors():
            return super().exists(name)

    def delete(self, name: str) -> None:
        with translated_errors():
            super().delete(name)

    def size(self, name: str) -> int:
        with translated_errors():
            return super().size(name)

    def _open(self, name: str, mode: str = "rb") -> File:
        """The whole file, copied to this machine, so that reading it does not fail half way."""
        with translated_errors():
            return super()._open(name, mode).open()

    def _save(self, name: str, content: Any) -> str:
        with translated_errors():
            return super()._save(name, content)

    def _normalize_name(self, name: str) -> str:
        found = super()._normalize_name(name)
        if not found or "\0" in found or len(found.encode()) > MAX_NAME_BYTES:
            raise SuspiciousFileOperation("No file can have this name.")
        return found


@contextmanager
def translated_errors() -> Iterator[None]:
    try:
        yield
    except (Boto3Error, BotoCoreError, ClientError) as error:
        raise StorageUnavailable(str(error)) from error
