"""The version of the API, and which of its operations will go away (R-CALL-33).

`/api/v1` in the path changes only if a client could break. The version counts what was added within it;
`docs/api-versions.md` lists that.
"""

from datetime import UTC, date, datetime, time
from typing import NamedTuple

VERSION = "1.1"
VERSION_HEADER = "API-Version"


class Deprecation(NamedTuple):
    """The day since which an operation should not be used any more, and the day on which it ends."""

    since: date
    until: date

    @property
    def headers(self) -> dict[str, str]:
        """`Deprecation` (RFC 9745), `Sunset` (RFC 8594), and the page with the replacement."""
        since, until = (datetime.combine(day, time(), UTC) for day in self)
        return {
            "Deprecation": f"@{since.timestamp():.0f}",
            "Sunset": until.strftime("%a, %d %b %Y %H:%M:%S GMT"),
            "Link": '</api/docs>; rel="deprecation"',
        }


# By the operation's name. An operation stays for at least a year after it was put here.
DEPRECATED: dict[str, Deprecation] = {}
