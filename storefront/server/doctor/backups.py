from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.conf import settings

from storefront.kit import clock
from storefront.server.doctor.findings import Finding, State

CHECK = "backup"
# A daily backup, and some time for it to run.
MAX_AGE = timedelta(hours=26)


def look() -> Iterator[Finding]:
    """The age of the last backup, which is that of the file that a backup touches when it has succeeded."""
    advice = "Set STOREFRONT_BACKUP_MARKER and enable storefront-backup.timer (docs/vps.md)."
    if not settings.BACKUP_MARKER:
        yield Finding(CHECK, State.MISSING, "No backup is known.", advice)
        return
    try:
        ended_at = datetime.fromtimestamp(Path(settings.BACKUP_MARKER).stat().st_mtime, UTC)
    except OSError as error:
        text = f"No backup has succeeded yet ({settings.BACKUP_MARKER}: {error.strerror})."
        yield Finding(CHECK, State.MISSING, text, "Run it: systemctl start storefront-backup.")
        return
    age = clock.now() - ended_at
    text = f"The last backup succeeded {max(age.total_seconds(), 0) / 3600:.1f} hours ago."
    if age > MAX_AGE:
        yield Finding(CHECK, State.MISSING, text, "See why: journalctl -u storefront-backup.")
    else:
        yield Finding(CHECK, State.OK, text)
