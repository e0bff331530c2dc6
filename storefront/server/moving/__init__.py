"""Moves a shop from one pod to another while it sells (docs/pods.md, docs/decisions/0013-moving-a-shop.md).

A shop is served where its row of `shops_shop` is, so this row is moved last. Until then all other rows are copied and
kept up to date by logical replication, filtered by `shop_id`. A stop of at most MAX_STOP_SECONDS refuses writes, while
both sides are compared and the target commits the shop's row.

What must never happen: a row is lost or is there twice; a row of another shop arrives; both pods accept writes of the
shop, or act for it (mails, webhooks, payments); a killed move leaves the shop stopped for longer than the stop, except
in the moment of the two commits, which a second run decides; a publication or slot of an ended move stays, and WAL with
it.

- `sides.py`: the connections to both pods.
- `tables.py`: which rows move, and how.
- `checks.py`: what is required before anything changes.
- `gate.py`: the triggers that refuse writes.
- `replication.py`: copying and catching up.
- `stop.py`: the stop, the comparison and the switch.
- `shelf.py`: what is kept of the old rows, and for how long.
- `moving.py`: the steps, in order, forward and back.
"""
