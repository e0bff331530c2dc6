"""Compares what the databases have with what the shoppers saw."""

import json
import re
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests

from deploy.local.deployment import Deployment
from deploy.local.programs import Failed
from deploy.local.shops import STOCK
from tests.load.shoppers import ANSWER_SECONDS, Cart, Seen

# Seconds that the workers get for the mails of the last orders.
MAIL_SECONDS = 120
# Shops of this pod alone: one that was moved away leaves its rows behind for a day.
LOOK = """
import json
from storefront.catalogue.models import Product
from storefront.orders.models import Order, OrderLine
domains = set(json.loads('''DOMAINS'''))
orders = Order.objects.filter(shop__domain__in=domains).order_by("id")
lines = OrderLine.objects.filter(order__in=orders).order_by("id")
stock = Product.objects.filter(shop__domain__in=domains).order_by("id")
print(json.dumps({
    "orders": list(map(list, orders.values_list("email", "public_id", "shop__domain"))),
    "lines": list(map(list, lines.values_list("order__email", "product_id", "qty"))),
    "stock": list(map(list, stock.values_list("pk", "stock_qty"))),
}, default=str))
"""


@dataclass
class Compared:
    """Each list has what is wrong; `orders`, `carts`, `mails` and `shops` are how many were compared."""

    orders: int = 0
    carts: int = 0
    mails: int = 0
    shops: int = 0
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    # Orders that no shopper of ours asked for.
    unknown: list[str] = field(default_factory=list)
    # Orders that exist, whose shopper never saw the confirmation.
    unseen: list[str] = field(default_factory=list)
    stock: list[str] = field(default_factory=list)
    wrong_carts: list[str] = field(default_factory=list)
    without_mail: list[str] = field(default_factory=list)
    deviations: list[str] = field(default_factory=list)


def pods_by_host(deployment: Deployment) -> dict[str, int]:
    """The pod of each host by the map of nginx, without further domains of the deployment itself."""
    return {host: int(pod) for host, pod in re.findall(r'^ *"([^"]+)" (\d+);$', deployment.map.read_text(), re.M)}


def compare(deployment: Deployment, shops: list[dict[str, Any]], seen: Seen) -> Compared:
    deployment.storefront(deployment.pods[0], *deployment.podmap_arguments)
    served = pods_by_host(deployment)
    rows: dict[str, list[list[Any]]] = {"orders": [], "lines": [], "stock": []}
    found = Compared(shops=len(shops), carts=len(seen.carts))
    for pod in deployment.pods:
        domains = [shop["domain"] for shop in shops if served[shop["domain"]] == pod.number]
        script = LOOK.replace("DOMAINS", json.dumps(domains))
        printed = deployment.storefront(pod, "shell", "--no-imports", "-c", script)
        for name, part in json.loads(printed.splitlines()[-1]).items():
            rows[name] += part
        try:
            deployment.storefront(pod, "verify")
        except Failed as failure:
            found.deviations.append(f"pod {pod.number}: {failure}")
    compare_orders(found, rows, seen)
    compare_stock(found, rows, shops)
    found.wrong_carts = [wrong for cart in seen.carts if (wrong := compare_cart(deployment.port, cart))]
    compare_mails(found, deployment.folder / "mail", seen)
    return found


def compare_orders(found: Compared, rows: dict[str, list[list[Any]]], seen: Seen) -> None:
    stored = {(email, domain, order) for email, order, domain in rows["orders"]}
    counted = Counter(email for email, *_ in rows["orders"])
    pieces: Counter[tuple[str, int]] = Counter()
    for email, product, number in rows["lines"]:
        pieces[email, product] += number
    found.orders = len(rows["orders"])
    for email, (domain, order, product) in seen.orders.items():
        if (email, domain, order) not in stored or not pieces[email, product]:
            found.lost.append(f"{email} in {domain}")
    for email, number in counted.items():
        if number > 1 or sum(count for (of, _), count in pieces.items() if of == email) > 1:
            found.doubled.append(email)
        if email in seen.in_doubt:
            found.unseen.append(email)
        elif email not in seen.orders:
            found.unknown.append(email)


def compare_stock(found: Compared, rows: dict[str, list[list[Any]]], shops: list[dict[str, Any]]) -> None:
    sold: Counter[int] = Counter()
    for _, product, number in rows["lines"]:
        sold[product] += number
    left = dict(rows["stock"])
    for product in (pk for shop in shops for pk, *_ in shop["products"]):
        if left.get(product) != STOCK - sold[product]:
            found.stock.append(f"product {product}: {left.get(product)} left, {sold[product]} sold")


def compare_cart(port: int, cart: Cart) -> str:
    """What differs between the cart and what its calls were answered; empty if nothing does."""
    url = f"http://{cart.shop['domain']}:{port}/api/v1/cart"
    headers = {"Authorization": f"Bearer {cart.shop['token']}", "X-Cart-Token": cart.token}
    answer = requests.get(url, headers=headers, timeout=ANSWER_SECONDS)
    if answer.status_code != 200:
        return f"{cart.shop['domain']}: {answer.status_code}"
    has: Counter[int] = Counter()
    for line in answer.json()["data"]["items"]:
        has[line["product_id"]] += line["qty"]
    return "" if has == cart.pieces else f"{cart.shop['domain']}: {dict(has)} instead of {dict(cart.pieces)}"


def compare_mails(found: Compared, folder: Path, seen: Seen) -> None:
    """Each order is confirmed by mail. Mails can be repeated, after a worker was killed, and never be missing."""
    deadline = time.monotonic() + MAIL_SECONDS
    while True:
        mailed = {to for file in folder.iterdir() for to in re.findall(r"^To: (\S+)$", file.read_text(), re.M)}
        found.without_mail = sorted(seen.orders.keys() - mailed)
        found.mails = len(seen.orders.keys() & mailed)
        if not found.without_mail or time.monotonic() > deadline:
            return
        time.sleep(1)
