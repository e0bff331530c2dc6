"""Downloads one picture and checks it, with the limits of uploads: 20 MiB, 40 million pixels, PNG, JPEG, WebP or GIF,
recognised by its content."""

import asyncio
import hashlib
import tempfile
from datetime import datetime, timedelta
from typing import IO

import aiohttp
import structlog

from storefront.kit import clock, outbound
from storefront.kit.files.pictures import MAX_FILE_BYTES, Unusable, open_picture
from storefront.pictures.claiming import Job
from storefront.pictures.rules import (
    BUSY,
    CONNECT_SECONDS,
    DEFAULT_RETRY_AFTER,
    MAX_REDIRECTS,
    MAX_RETRY_AFTER,
    READ_SECONDS,
    TOTAL_SECONDS,
    is_temporary,
)
from storefront.pictures.storing import FetchedPicture, Outcome

log = structlog.get_logger(__name__)

# Bytes of a file that is kept in memory; a larger one is written to disk.
IN_MEMORY = 1024 * 1024
# Without this header, some hosts send formats that are not accepted here.
ACCEPT = {"Accept": "image/webp,image/png,image/jpeg,image/gif"}


async def fetch(session: aiohttp.ClientSession, job: Job) -> Outcome:
    """Make one attempt. Errors of any kind become an outcome. The outcome's file, if there is one, is open."""
    file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115, closed below or by the caller
    outcome = Outcome(job, reason="Internal error.")
    try:
        outcome = await _fetch_into(file, session, job)
    except outbound.Barred as error:
        outcome = Outcome(job, reason=error.reason, is_final=True)
    except outbound.Unreachable as error:
        outcome = Outcome(job, reason=error.reason)
    except Unusable as error:
        outcome = Outcome(job, reason=f"The file {error}.", is_final=True)
    except Exception:
        log.exception("picture_fetch_failed", media=job.media_id)
    finally:
        if outcome.picture is None:
            file.close()
    return outcome


async def _fetch_into(file: IO[bytes], session: aiohttp.ClientSession, job: Job) -> Outcome:
    answer = await outbound.download(
        session,
        job.url,
        into=file,
        headers=ACCEPT,
        connect=CONNECT_SECONDS,
        read=READ_SECONDS,
        total=TOTAL_SECONDS,
        most=MAX_FILE_BYTES,
        redirects=MAX_REDIRECTS,
    )
    if answer.status != 200:
        return Outcome(
            job,
            reason=f"The host answered with status {answer.status}.",
            is_final=not is_temporary(answer.status),
            retry_after=_retry_after(answer, clock.now()),
        )
    if answer.is_cut:
        return Outcome(job, reason=f"The file has more than {MAX_FILE_BYTES // 1024**2} MiB.", is_final=True)
    # In a thread, so that the event loop stays free for the other downloads.
    return Outcome(job, picture=await asyncio.to_thread(inspect, file))


def inspect(file: IO[bytes]) -> FetchedPicture:
    """Check the content without decoding it. Raises Unusable."""
    file.seek(0)
    image = open_picture(file)
    file.seek(0)
    digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
    return FetchedPicture(file, digest, image.format or "", image.width, image.height)


def _retry_after(answer: outbound.Download, now: datetime) -> timedelta | None:
    """The time for which a busy host asks for no further call; None if the host is not busy."""
    if answer.status not in BUSY:
        return None
    wanted = outbound.retry_after(answer.headers, now)
    return DEFAULT_RETRY_AFTER if wanted is None else min(wanted, MAX_RETRY_AFTER)
