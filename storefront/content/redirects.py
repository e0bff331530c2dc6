"""Changes of a shop's redirects. Chains are flattened when they would arise, and loops are refused, so that a shopper
is led on once and never in a circle. A target at which the shop can have a page, such as a product's address, stays:
while there is a page, it wins over a redirect from its address. Without one, shoppers are led on when they come
(`website/moved.py`).

Callers hold the shop's lock (`lock`) from reading the redirects to writing them, since two changes that are right by
themselves can make a loop together.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from django.db import transaction
from django.utils.translation import gettext as _

from storefront import audit
from storefront.content.addresses import (
    WrongAddress,
    as_entered,
    may_have_page,
    own_hosts,
    path_in,
    path_of,
    target_of,
    with_query,
)
from storefront.content.models import MissingPath, Redirect
from storefront.kit.files.spreadsheets import escape_formula
from storefront.kit.files.tables import UnusableTable, WrongLine, read_each, read_table
from storefront.shops.models import Shop

# As Shopify names them in its exports.
COLUMNS = ("redirect from", "redirect to")
MAX_REDIRECTS = 10_000
MAX_FILE_BYTES = 8 * 1024 * 1024


class Loop(WrongAddress):
    """Redirects that would lead in a circle."""


@dataclass(frozen=True)
class Imported:
    """How many redirects of a file are new, changed, and as they were; and how many others lead elsewhere for it."""

    added: int
    changed: int
    same: int
    repointed: int


def lock(shop: Shop) -> None:
    """Keep others from changing the shop's redirects until the end of the transaction."""
    list(Shop.objects.select_for_update(no_key=True).filter(pk=shop.pk).values_list("pk"))


def flattened(targets: Mapping[str, str]) -> dict[str, str]:
    """Returns the targets by path, each led on to where it ends, or to where a page can be. Raises Loop."""
    ends: dict[str, str] = {}
    for start in targets:
        passed: list[str] = []
        path: str | None = start
        while path is not None and path in targets and path not in ends:
            if path in passed:
                circle = _(" leads to ").join([*passed[passed.index(path) :], path])
                raise Loop(_("This makes a loop: %(circle)s.") % {"circle": circle})
            passed.append(path)
            path = path_in(targets[path])
        for each in reversed(passed):
            follows = path_in(targets[each])
            onward = ends.get(follows) if follows is not None and not may_have_page(follows) else None
            ends[each] = targets[each] if onward is None else with_query(onward, urlsplit(targets[each]).query)
    return ends


def check_room(count: int) -> None:
    """Raises WrongAddress for more redirects than a shop can have."""
    if count > MAX_REDIRECTS:
        raise WrongAddress(
            _("A shop has at most %(max_redirects)s redirects. Delete some first.")
            % {"max_redirects": f"{MAX_REDIRECTS:,}"}
        )


def planned(shop: Shop, *, path: str, target: str, instead_of: str = "") -> dict[str, str]:
    """The redirects that change when this one is made, or changed, by path: itself, flattened, and those that led to
    its path. `instead_of` is the path that it had before. Raises WrongAddress."""
    existing = dict(Redirect.objects.filter(shop=shop).values_list("path", "target"))
    kept = {each: leads for each, leads in existing.items() if each != instead_of}
    check_room(len({*kept, path}))
    ends = flattened({**kept, path: target})
    return {each: end for each, end in ends.items() if kept.get(each) != end}


def repoint(*, shop: Shop, targets: Mapping[str, str], now: datetime) -> int:
    """Write other targets of existing redirects. Returns how many there were."""
    rows = list(Redirect.objects.filter(shop=shop, path__in=list(targets))) if targets else []
    for row in rows:
        row.target, row.updated_at = targets[row.path], now
    Redirect.objects.bulk_update(rows, ["target", "updated_at"], batch_size=300)
    return len(rows)


def forget_missing(shop: Shop, paths: Iterable[str]) -> None:
    """Take paths that are redirected now off the list of missing pages."""
    missing = dict(MissingPath.objects.filter(shop=shop).values_list("path", "pk"))
    doomed = [missing[path] for path in paths if path in missing]
    MissingPath.objects.filter(shop=shop, pk__in=doomed).delete()


def export_redirects(shop: Shop) -> Iterator[list[str]]:
    """The lines of the file, the header first."""
    yield ["Redirect from", "Redirect to"]
    for path, target in Redirect.objects.filter(shop=shop).order_by("path").values_list("path", "target").iterator():
        yield [escape_formula(cell) for cell in (as_entered(path), target)]


@transaction.atomic
def import_redirects(*, shop: Shop, content: bytes, now: datetime) -> Imported:
    """Add the redirects in this file, and change those that the shop has. Others stay, but for those that would be
    chains. Raises UnusableTable for any problem; then nothing changed."""
    lock(shop)
    given = _read(shop, content)
    existing = dict(Redirect.objects.filter(shop=shop).values_list("path", "target"))
    try:
        check_room(len({*existing, *given}))
        ends = flattened({**existing, **given})
    except WrongAddress as wrong:
        raise UnusableTable([str(wrong)]) from None
    added = [path for path in given if path not in existing]
    changed = {path: end for path, end in ends.items() if path in existing and existing[path] != end}
    stamps = {"created_at": now, "updated_at": now}
    Redirect.objects.bulk_create(
        [Redirect(shop=shop, path=path, target=ends[path], **stamps) for path in added], batch_size=300
    )
    repoint(shop=shop, targets=changed, now=now)
    forget_missing(shop, given)
    in_file = len(given.keys() & changed.keys())
    found = Imported(len(added), in_file, len(given) - len(added) - in_file, len(changed) - in_file)
    if added or changed:
        after = {"added": found.added, "changed": found.changed, "repointed": found.repointed}
        audit.record(shop=shop, action="redirect.imported", after=after, now=now)
    return found


def _read(shop: Shop, content: bytes) -> dict[str, str]:
    """The file's targets by path."""
    lines, _found = read_table(content, COLUMNS, max_bytes=MAX_FILE_BYTES)
    hosts = own_hosts(shop)
    found: dict[str, str] = {}
    first: dict[str, int] = {}

    def read(number: int, cells: list[str]) -> None:
        if len(cells) != len(COLUMNS):
            raise WrongLine(_("has another number of cells than the header."))
        try:
            path = path_of(cells[0], hosts)
        except WrongAddress as wrong:
            raise WrongLine(_("Redirect from: %(wrong)s") % {"wrong": wrong}) from None
        if path in first:
            raise WrongLine(
                _("Redirect from: %(path)s is in line %(first)s too.") % {"path": path, "first": first[path]}
            )
        try:
            found[path] = target_of(cells[1], hosts)
        except WrongAddress as wrong:
            raise WrongLine(_("Redirect to: %(wrong)s") % {"wrong": wrong}) from None
        first[path] = number

    read_each(lines, read)
    return found
