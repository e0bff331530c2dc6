from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _lazy

from storefront import audit
from storefront.exports import jobs
from storefront.exports.kinds import KINDS
from storefront.exports.models import Export
from storefront.kit.api.members import chosen
from storefront.kit.refusals import InvalidFields, Refusal
from storefront.shops.models import Shop
from storefront.shops.task_quota import check_tasks

# Waiting and running exports of a shop.
MAX_UNFINISHED = 2


class TooManyExports(Refusal):
    code, field = "too_many_exports", "kind"
    message = format_lazy(
        _lazy("This shop has {most} exports that are not finished. Wait until one is."), most=MAX_UNFINISHED
    )


@transaction.atomic
def start_export(
    *,
    shop: Shop,
    kind: str,
    fields: Sequence[str] | None,
    include: Sequence[str] | None,
    updated_since: datetime | None,
    now: datetime,
) -> Export:
    """Have the worker write a file with the records of this kind. Raises InvalidFields for unknown names, and
    TooManyExports. Locks the shop, so that requests at the same time cannot exceed the maximum."""
    known = KINDS[kind]
    _check_names("fields", fields, (*known.listed, *known.included))
    _check_names("include", include, known.included)
    Shop.objects.select_for_update(no_key=True).get(pk=shop.pk)
    check_tasks(shop=shop)
    if Export.objects.filter(shop=shop, finished_at=None).count() >= MAX_UNFINISHED:
        raise TooManyExports
    members = chosen(known.listed, fields, include)
    export = Export.objects.create(
        shop=shop,
        kind=kind,
        members=None if members is None else sorted(members),
        since=updated_since,
        created_at=now,
    )
    # Personal data leaves the shop (R-SYNC-19).
    audit.record(shop=shop, action="export.started", object=audit.Object("export", export.pk, kind), now=now)
    transaction.on_commit(lambda: jobs.run_export.enqueue(shop.pk, export.pk))
    return export


def _check_names(field: str, given: Sequence[str] | None, known: Sequence[str]) -> None:
    unknown = [name for name in given or () if name not in known]
    if unknown or given == []:
        wrong = f"has unknown names: {', '.join(unknown)[:200]}" if unknown else "must not be empty"
        hint = f"Known are {', '.join(known)}" if known else "This kind has none"
        raise InvalidFields(errors={field: [f"{field} {wrong}. {hint}."]})
