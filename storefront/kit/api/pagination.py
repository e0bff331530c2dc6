"""The paginated envelope of the public API (R-CAT-16 to R-CAT-18)."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

import orjson
from django.http import HttpResponse

from storefront.kit.api.http import JSON

# Up to this many pages, every page has a link; beyond, only those near the current page and at both ends.
EVERY_PAGE_UP_TO = 1000
NEAR = 3


def envelope(
    records: Sequence[str],
    *,
    total: int,
    page: int,
    per_page: int,
    path: str,
    given: Sequence[tuple[str, str]] = (),
    deleted: str | None = None,
    deleted_total: int = 0,
    **more: str | None,
) -> str:
    """The JSON of one page: the records, which are JSON already, in their envelope, with keys in the order of R-CAT-16.

    `path` is the list's absolute URL; `given` holds the request's filters, which every page URL repeats. `deleted` is
    the JSON of that member, of which all pages have `deleted_total` entries; None: the list has no such member. `more`
    are members at the end.
    """
    last = last_page(max(total, deleted_total), per_page)
    prefix = _quoted(url_prefix(path, given))[:-1]
    previous, following = neighbours(page, last)
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
        f'"to":{start + len(records) if records else "null"},"total":{total}{_deleted(deleted)}'
        + "".join(f',"{name}":{orjson.dumps(value).decode()}' for name, value in more.items())
        + "}"
    )


def _deleted(deleted: str | None) -> str:
    return "" if deleted is None else f',"deleted":{deleted}'


def page_response(records: Sequence[dict[str, Any]], **where: Any) -> HttpResponse:
    """A response with these records, which are encoded here, in their envelope."""
    written = [orjson.dumps(record).decode() for record in records]
    return HttpResponse(envelope(written, **where), content_type=JSON)


def last_page(total: int, per_page: int) -> int:
    """The number of the last page; 1 if there are no records."""
    return max(1, -(-total // per_page))


def neighbours(page: int, last: int) -> tuple[int | None, int | None]:
    """The pages before and after. From a page after the last, the one before is the last with records."""
    return (min(page - 1, last) if page > 1 else None), (page + 1 if page < last else None)


def url_prefix(path: str, given: Sequence[tuple[str, str]]) -> str:
    """A page's URL up to its number, with the request's filters."""
    query = urlencode(given)
    return f"{path}?{query}&page=" if query else f"{path}?page="


def _page_links(prefix: str, page: int, last: int) -> list[str]:
    if last > EVERY_PAGE_UP_TO:
        return [_link(prefix, str(number or "..."), number, page) for number in shown_pages(page, last)]
    links = list(_every_link(prefix, last))
    if page <= last:
        links[page - 1] = _link(prefix, str(page), page, page)
    return links


# Cached, since hundreds of links took as long as the page's products. They are the same on every page.
@lru_cache(maxsize=16)
def _every_link(prefix: str, last: int) -> tuple[str, ...]:
    """A link to each page, none active."""
    return tuple(_link(prefix, str(number), number) for number in range(1, last + 1))


def shown_pages(page: int, last: int, *, near: int = NEAR, ends: int = 2) -> Iterator[int | None]:
    """The pages that get a link when there are too many for all, in order: `ends` at both ends, and `near` on either
    side of the current page; None stands for a gap."""
    middle = min(page, last)
    shown = {*range(1, ends + 1), *range(middle - near, middle + near + 1), *range(last - ends + 1, last + 1)}
    before = 0
    for number in sorted(number for number in shown if 1 <= number <= last):
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
