"""A `feed.Source` for rows that are listed from their creation to their deletion, such as orders."""

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

import orjson
from django.db.models import Model

from storefront.sync import log
from storefront.sync.feed import Deletion, Source
from storefront.sync.log import Changed, as_stored, as_utc


class Rows(Source):
    """The shop's rows of `model`. The first pass goes by `key`, a unique column of the shop's rows."""

    model: ClassVar[type[Model]]
    key: ClassVar[str] = "pk"

    @abstractmethod
    def records(self, ids: Collection[int]) -> Mapping[int, dict[str, Any]]:
        """The records of the shop's rows among these ids, by id."""

    def scan(self, after: int, count: int, now: datetime) -> Sequence[tuple[int, Sequence[str]]]:
        rows = self.model._default_manager.filter(shop=self.shop, **{f"{self.key}__gt": after})
        if self.since is not None:
            rows = rows.filter(updated_at__gte=self.since)
        keys = dict(rows.order_by(self.key).values_list("pk", self.key)[:count])
        texts = self._texts(keys)
        return [(key, [texts[id]] if id in texts else []) for id, key in keys.items()]

    def current(self, changed: Mapping[int, Changed], now: datetime) -> tuple[Sequence[str], Sequence[Deletion]]:
        texts = self._texts(changed)
        deleted = [Deletion(id, each.at) for id, each in changed.items() if id not in texts]
        return [texts[id] for id in changed if id in texts], deleted

    def deletions(self, since: datetime, now: datetime, *, start: int, count: int) -> tuple[Sequence[Deletion], int]:
        table = self.model._meta.db_table
        statement = (
            "SELECT c.object_id AS id, max(c.at) AS at FROM sync_change c WHERE c.shop_id = %(shop)s"  # noqa: S608
            f" AND c.kind = '{self.kind}' AND c.at >= %(since)s AND NOT EXISTS"
            f" (SELECT 1 FROM {table} r WHERE r.id = c.object_id AND r.shop_id = %(shop)s) GROUP BY c.object_id"
        )
        params = {"shop": self.shop.pk, "since": as_stored(since)}
        rows, total = log.deletions(statement, params, start=start, count=count)
        return [Deletion(id, as_utc(at)) for id, at in rows], total

    def _texts(self, ids: Collection[int]) -> dict[int, str]:
        return {id: orjson.dumps(record).decode() for id, record in self.records(ids).items()}
