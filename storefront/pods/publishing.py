"""Puts a new map where the proxy reads it, and has the proxy reload it.

What must never happen: the proxy reads half a file; a map that the proxy refuses stays; a map is on disk that the proxy
never loaded, such as after a kill. So the file is replaced in one step, the proxy's own test decides, and the digest of
what was loaded is stored beside it: until the digests agree, each run tries again.
"""

import fcntl
import hashlib
import os
import shlex
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Seconds that the proxy's test or reload may take.
MAX_SECONDS = 30


class NotPublished(Exception):
    """The map was not loaded. The text is a sentence for people."""


def publish(text: str, path: Path, *, test: str = "", reload: str = "") -> bool:
    """Write the map to the file, test the proxy's configuration with one command and reload it with another. Returns
    False if the proxy has this map already. Raises NotPublished, after which the file is as before."""
    loaded = path.with_name(f"{path.name}.loaded")
    with _alone(path, loaded):
        before = path.read_text() if path.exists() else None
        digest = hashlib.sha256(text.encode()).hexdigest()
        if before == text and loaded.read_text() == digest:
            return False
        _replace(path, text)
        try:
            for command in filter(None, (test, reload)):
                _run(command)
        except NotPublished:
            if before is None:
                path.unlink()
            else:
                _replace(path, before)
            raise
        loaded.write_text(digest)
        return True


@contextmanager
def _alone(path: Path, loaded: Path) -> Iterator[None]:
    """Keep other runs for the same file out. The lock ends with the process."""
    try:
        with loaded.open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
    except BlockingIOError:
        raise NotPublished(f"Another storefront podmap is writing {path}.") from None
    except OSError as error:
        raise NotPublished(f"The file {path} cannot be written: {error.strerror}.") from None


def _replace(path: Path, text: str) -> None:
    handle, draft = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w") as file:
            # The map has no secrets, and a proxy with fewer rights must be able to read it.
            os.fchmod(handle, 0o644)
            file.write(text)
            file.flush()
            os.fsync(handle)
        os.replace(draft, path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def _run(command: str) -> None:
    try:
        # The operator's own command line.
        done = subprocess.run(  # noqa: S603
            shlex.split(command), capture_output=True, text=True, timeout=MAX_SECONDS, check=False, errors="replace"
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise NotPublished(f"The map was not loaded: {command} could not be run ({error}).") from None
    if done.returncode:
        reason = " ".join((done.stderr or done.stdout).split())[-500:]
        raise NotPublished(f"The map was not loaded: {command} failed with {done.returncode}: {reason}")
