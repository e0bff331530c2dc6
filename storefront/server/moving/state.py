"""Reads and writes the rows of `pods_shopmove`, from which a run knows how far the one before it came."""

from storefront.pods.models import ShopMove
from storefront.server.moving.sides import Side

_INSERT = """
    INSERT INTO pods_shopmove (shop_id, domain, source, target, step, step_at) VALUES (%s, %s, %s, %s, %s, now())
    ON CONFLICT (shop_id) DO NOTHING
"""


def step_of(side: Side, shop: int, *, locked: bool = False) -> str | None:
    """The step that the pod has stored; None without a move. `locked` waits for a transaction that writes it."""
    lock = "FOR UPDATE" if locked else ""
    return side.value(f"SELECT step FROM pods_shopmove WHERE shop_id = %s {lock}", [shop])  # noqa: S608


def begin(side: Side, move: ShopMove, step: str) -> None:
    """Store a move that is new. Does nothing for one that the pod has stored."""
    side.run(_INSERT, [move.shop_id, move.domain, move.source, move.target, step])


def set_step(side: Side, shop: int, step: str, *, only_if: str | None = None) -> bool:
    """Returns False if the stored step is not `only_if`, and then changes nothing."""
    changed = side.run(
        "UPDATE pods_shopmove SET step = %(step)s, step_at = now() WHERE shop_id = %(shop)s"
        " AND (%(before)s::text IS NULL OR step = %(before)s)",
        {"step": step, "shop": shop, "before": only_if},
    )
    return changed == 1


def forget(side: Side, shop: int) -> None:
    side.run("DELETE FROM pods_shopmove WHERE shop_id = %s", [shop])


def find(side: Side, domain: str) -> ShopMove | None:
    """The move of the shop with this domain that this pod has stored."""
    names = ("shop_id", "domain", "source", "target", "step", "step_at")
    rows = side.rows(f"SELECT {', '.join(names)} FROM pods_shopmove WHERE domain = %s", [domain])  # noqa: S608
    return next((ShopMove(**dict(zip(names, row, strict=True))) for row in rows), None)
