"""Remembers the products that an import has created, to find out whether the shop has others."""

from collections.abc import Sequence

from django.db import connection

from storefront.kit.runs import runs_of
from storefront.shops.models import Shop

# The next product of any shop, in the order of the index that has these columns (`product_standing`): so the look-up
# does not depend on statistics, which are old while a table grows.
_NEXT = (
    "SELECT shop_id, id FROM catalogue_product WHERE deleted_at IS NULL AND id > 0 AND (shop_id, id) > (%s, %s)"
    " ORDER BY shop_id, id LIMIT 1"
)


class OwnProducts:
    """Runs of consecutive ids. Ids within a run are all the import's, so only the gaps between runs are examined."""

    # More runs mean that others create products at the same time.
    MAX_RUNS = 8

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self._runs: list[tuple[int, int]] = []
        self._are_alone = True

    def add(self, ids: Sequence[int]) -> None:
        """Add products that the import has created, in ascending order."""
        if not self._are_alone:
            return
        for first, last in runs_of(ids):
            before = self._runs.pop() if self._runs and self._runs[-1][1] == first - 1 else (first, last)
            self._runs.append((before[0], last))

    def are_alone(self) -> bool:
        """Returns True if the shop has no other product. Once it has one, the answer stays False."""
        self._are_alone = self._are_alone and len(self._runs) <= self.MAX_RUNS and not self._has_others()
        return self._are_alone

    def give_up(self) -> bool:
        """Let `are_alone` return False from now on. Returns its previous answer."""
        were_alone, self._are_alone = self._are_alone, False
        return were_alone

    def _has_others(self) -> bool:
        ends = [0, *(last for _, last in self._runs)]
        begins = [*(first for first, _ in self._runs), None]
        return any(self._is_one_between(after, before) for after, before in zip(ends, begins, strict=True))

    def _is_one_between(self, after: int, before: int | None) -> bool:
        with connection.cursor() as cursor:
            cursor.execute(_NEXT, [self.shop.pk, after])
            found = cursor.fetchone()
        return found is not None and found[0] == self.shop.pk and (before is None or found[1] < before)
