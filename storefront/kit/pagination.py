"""The paginated envelope of the public API (contract: Paginated envelope; decisions: Envelope)."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

import orjson
from django.http import HttpResponse

from storefront.kit.http import JSON

# Up to here every page has its link; beyond, only those near the current page and at both ends.
EVERY_PAGE_UP_TO = 1000
NEAR = 3


def envelope(
    records: Sequence[str], *, total: int, page: int, per_page: int, path: str, given: Sequence[tuple[str, str]] = ()
) -> str:
    """The records of one page, which are JSON, in their envelope: JSON with its keys in the contract's order.

    `path` is the list's absolute URL; `given` the filters of the request, which every page URL keeps.
    """
    last = max(1, -(-total // per_page))
    query = urlencode(given)
    prefix = _quoted(f"{path}?{query}&page=" if query else f"{path}?page=")[:-1]
    # From beyond the end, the way back leads to the last page that has something.
    previous = min(page - 1, last) if page > 1 else None
    following = page + 1 if page < last else None
    start = (page - 1) * per_page
    links = [
        _link(prefix, "&laquo; Previous", previous),
        *_page_links(prefix, page, last),
        _link(prefix, "Next &raquo;", following),
    ]
    return (
        f'{{"current_page":{page},"data":[{",".join(records)}],"first_page_url":{_url(prefix, 1)},'
        f'"from":{start + 1 if records else "null"},"last_page":{last},"last_page_url":{_url(prefix, last)},'
        f'"links":[{",".join(links)}],"next_page_url":{_url(prefix, following)},"path":{_quoted(path)},'
        f'"per_page":{per_page},"prev_page_url":{_url(prefix, previous)},'
        f'"to":{start + len(records) if records else "null"},"total":{total}}}'
    )


def page_response(records: Sequence[dict[str, Any]], **where: Any) -> HttpResponse:
    """Records that are not JSON yet, in their envelope, as an answer."""
    written = [orjson.dumps(record).decode() for record in records]
    return HttpResponse(envelope(written, **where), content_type=JSON)


def _page_links(prefix: str, page: int, last: int) -> list[str]:
    if last > EVERY_PAGE_UP_TO:
        return [_link(prefix, str(number or "..."), number, page) for number in shown_pages(page, last)]
    links = list(_every_link(prefix, last))
    if page <= last:
        links[page - 1] = _link(prefix, str(page), page, page)
    return links


# Hundreds of links took as long to make as the page of products beside them; they are the same for every page.
@lru_cache(maxsize=16)
def _every_link(prefix: str, last: int) -> tuple[str, ...]:
    """A link to each page, none of them active."""
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


def _link(prefix: str, label: str, number: int | None, current: int | None = None) -> str:
    active = "true" if number is not None and number == current else "false"
    page = "null" if number is None else number
    return f'{{"url":{_url(prefix, number)},"label":"{label}","page":{page},"active":{active}}}'


def _url(prefix: str, number: int | None) -> str:
    """The page's URL as JSON; `prefix` is JSON too, up to the number."""
    return "null" if number is None else f'{prefix}{number}"'


def _quoted(text: str) -> str:
    return orjson.dumps(text).decode()
