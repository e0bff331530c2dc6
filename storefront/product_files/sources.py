"""The sources of imports: the shops elsewhere whose ids a file has."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from storefront.product_files.csv_reading import UnreadableFile
from storefront.product_files.models import MAX_SOURCE_LENGTH, ImportSource
from storefront.shops.models import Shop

# The source of a shop's first files, if the merchant does not name it.
DEFAULT = "woocommerce"


@dataclass(frozen=True, slots=True)
class Source:
    """The source of one import.

    `is_named` is whether this import names it, `is_stated` whether the file does; if neither, it is the shop's last
    source. `is_own` is whether the file states that it is the shop's own export, whose ids are those of its products.
    `pk` is 0 then, and in a dry run of a new source.
    """

    name: str
    pk: int
    is_named: bool = False
    is_stated: bool = False
    is_own: bool = False


def checked_name(name: str) -> str:
    """The name without padding. Raises UnreadableFile if it cannot be a source's name."""
    name = " ".join(name.split())
    if len(name) > MAX_SOURCE_LENGTH or not name.isprintable():
        raise UnreadableFile(
            _("The source's name must have at most %(most)s printable characters.") % {"most": MAX_SOURCE_LENGTH}
        )
    return name


def source_names(shop: Shop) -> list[str]:
    """The names of the shop's sources, the last one first."""
    return list(ImportSource.objects.filter(shop=shop).order_by("-used_at", "-pk").values_list("name", flat=True)[:20])


def source_of(shop: Shop, name: str, stated: str, *, now: datetime, write: bool) -> Source:
    """The source of a file with ids: the one that `name` names, or else the one that the file itself states, or else
    the shop's last one. Creates it if `write`."""
    is_named, is_stated = bool(name), bool(stated) and not name
    name = checked_name(name or stated) or next(iter(source_names(shop)), DEFAULT)
    if is_stated and name == shop.domain:
        return Source(name, 0, is_stated=True, is_own=True)
    rows = ImportSource.objects.filter(shop=shop, name=name)
    if write:
        ImportSource.objects.bulk_create([ImportSource(shop=shop, name=name, used_at=now)], ignore_conflicts=True)
        rows.update(used_at=now)
    return Source(name, rows.values_list("pk", flat=True).first() or 0, is_named, is_stated)
