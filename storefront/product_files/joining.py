"""Joins the rows of a file that were found to be variants of one existing product, wherever they are in the file, so
that the product is updated completely or not at all.

Rows of SKUs and prices do not state their product, which is known only once the shop has been asked. Such rows wait on
disk until the whole file has been read, with the row of the product itself if the file has one.
"""

import pickle
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import groupby
from operator import itemgetter

from django.utils.translation import gettext as _

from storefront.product_files.parsed_products import Failure, Keys, ParsedProduct, Problem
from storefront.product_files.row_store import MAX_GROUP_ROWS, temporary_database


class PendingVariants(AbstractContextManager["PendingVariants"]):
    """Rows of existing variable products, on disk."""

    def __init__(self) -> None:
        self._database = temporary_database(
            "CREATE TABLE row (product INTEGER NOT NULL, line INTEGER NOT NULL, is_variant INTEGER NOT NULL,"
            " content BLOB NOT NULL);"
        )

    def __exit__(self, *error: object) -> None:
        self._database.close()

    def add(self, rows: Iterable[tuple[int, bool, ParsedProduct]]) -> None:
        """Add rows, each with the id of its product, and True for a row of a variant."""
        self._database.executemany(
            "INSERT INTO row VALUES (?, ?, ?, ?)",
            ((id, parsed.line, is_variant, pickle.dumps(parsed)) for id, is_variant, parsed in rows),
        )

    def joined(self) -> Iterator[ParsedProduct | Failure]:
        """One parsed product of the rows of each product, by their first lines."""
        rows = self._database.execute(
            "SELECT product, is_variant, content FROM row"
            " JOIN (SELECT product, min(line) AS first, count(*) AS size FROM row GROUP BY product) USING (product)"
            " ORDER BY first, product, line"
        )
        for id, members in groupby(rows, key=itemgetter(0)):
            # Written by this process, a moment ago.
            read = ((bool(is_variant), pickle.loads(content)) for _unused, is_variant, content in members)  # noqa: S301
            yield from _joined(id, list(read))


def _joined(id: int, rows: list[tuple[bool, ParsedProduct]]) -> Iterator[ParsedProduct | Failure]:
    variants = [parsed.as_variant or parsed for is_variant, parsed in rows if is_variant]
    products = [parsed for is_variant, parsed in rows if not is_variant]
    problems = [problem for each in (*variants, *products) for problem in each.problems]
    if len(rows) > MAX_GROUP_ROWS:
        problems = [
            Problem(
                rows[0][1].line,
                "",
                _("the product has %(count)s rows; at most %(most)s are read")
                % {"count": f"{len(rows):,}", "most": f"{MAX_GROUP_ROWS:,}"},
            )
        ]
    if problems:
        refused = {problem.line for problem in problems}
        reason = _("is not imported, since line %(refused)s is about the same product") % {"refused": min(refused)}
        problems += [Problem(parsed.line, "", reason) for _unused, parsed in rows if parsed.line not in refused]
        yield Failure(sorted(problems, key=lambda problem: problem.line))
        return
    whole, *repeats = products or [_without_own_row(variants)]
    line = min(parsed.line for _unused, parsed in rows)
    keys = replace(whole.keys, product_id=id)
    yield replace(
        whole,
        line=line,
        keys=keys,
        variants=[variant for each in variants for variant in each.variants or ()],
        joined_rows=[(parsed.line, str(parsed.keys)) for _unused, parsed in rows],
        warnings=[*whole.warnings, *(warning for each in variants for warning in each.warnings)],
        as_variant=None,
    )
    # Each is a conflict, since the product is that of the first one.
    yield from (replace(each, keys=replace(each.keys, product_id=id), as_variant=None) for each in repeats)


def _without_own_row(variants: list[ParsedProduct]) -> ParsedProduct:
    # Without the id in the source, which is that of the variant and not of the product.
    first = variants[0]
    return ParsedProduct(first.line, Keys(sku=first.keys.sku), {}, variants=[])
