"""The paginated envelope of the public API (contract: Paginated envelope; decisions: Envelope)."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

# Up to here every page has its link; beyond, only those near the current page and at both ends.
EVERY_PAGE_UP_TO = 1000
NEAR = 3


def envelope(
    records: Sequence[Any], *, total: int, page: int, per_page: int, path: str, given: Sequence[tuple[str, str]] = ()
) -> dict[str, Any]:
    """The records of one page in their envelope, keys in the contract's order.

    `path` is the list's absolute URL; `given` the filters of the request, which every page URL keeps.
    """
    last = max(1, -(-total // per_page))
    query = urlencode(given)
    prefix = f"{path}?{query}&page=" if query else f"{path}?page="
    # From beyond the end, the way back leads to the last page that has something.
    previous = min(page - 1, last) if page > 1 else None
    following = page + 1 if page < last else None
    start = (page - 1) * per_page
    return {
        "current_page": page,
        "data": records,
        "first_page_url": f"{prefix}1",
        "from": start + 1 if records else None,
        "last_page": last,
        "last_page_url": f"{prefix}{last}",
        "links": [
            _link(prefix, "&laquo; Previous", previous),
            *_page_links(prefix, page, last),
            _link(prefix, "Next &raquo;", following),
        ],
        "next_page_url": None if following is None else f"{prefix}{following}",
        "path": path,
        "per_page": per_page,
        "prev_page_url": None if previous is None else f"{prefix}{previous}",
        "to": start + len(records) if records else None,
        "total": total,
    }


def _page_links(prefix: str, page: int, last: int) -> list[dict[str, Any]]:
    if last > EVERY_PAGE_UP_TO:
        return [_link(prefix, str(number) if number else "...", number, page) for number in shown_pages(page, last)]
    links = list(_every_link(prefix, last))
    if page <= last:
        links[page - 1] = links[page - 1] | {"active": True}
    return links


# Hundreds of links took as long to make as the page of products beside them; they are the same for every page.
@lru_cache(maxsize=16)
def _every_link(prefix: str, last: int) -> tuple[dict[str, Any], ...]:
    """A link to each page, none of them active. They are shared: never change one."""
    return tuple(_link(prefix, str(number), number) for number in range(1, last + 1))


def shown_pages(page: int, last: int) -> Iterator[int | None]:
    """The pages that get a link where there are too many for all, in order; None where some between are left out."""
    middle = min(page, last)
    shown = {1, 2, *range(max(1, middle - NEAR), min(last, middle + NEAR) + 1), last - 1, last}
    before = 0
    for number in sorted(shown):
        if number > before + 1:
            yield None
        yield number
        before = number


def _link(prefix: str, label: str, number: int | None, current: int | None = None) -> dict[str, Any]:
    url = None if number is None else f"{prefix}{number}"
    return {"url": url, "label": label, "page": number, "active": number is not None and number == current}
