"""Stores the words that find an order when it is placed, and searches them in the admin.

A search of several words finds the orders that have all of them. The beginning of a word is enough. For a word, at most
`MAX_ORDERS_PER_WORD` orders are read, so a search takes about as long in a shop of a million orders as in a small one;
`is_all` is false if there are more.
"""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from storefront.kit.dialect import dialect
from storefront.kit.ids import as_id
from storefront.orders.desk_models import MAX_WORD_LENGTH, OrderWord
from storefront.orders.models import Order, OrderLine
from storefront.shops.models import Shop

# Orders that are read for one word of a search.
MAX_ORDERS_PER_WORD = 2000
MAX_WORDS = 6


@dataclass(frozen=True)
class Found:
    """The ids of the orders found. `is_all` is false if there are more."""

    keys: set[int]
    is_all: bool


def plain(text: str) -> str:
    """The text in lower case without accents, as words are stored and searched."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter) and letter != "\0")


def words_of(order: Order, lines: Iterable[OrderLine]) -> set[str]:
    """The words of an order: its address, the words of its names, and its SKUs."""
    texts = [order.email, *(line.sku for line in lines)]
    for address in (order.billing_address, order.shipping_address):
        texts += [(address or {}).get(name) or "" for name in ("name", "company")]
    return {word for text in texts for part in text.split() if (word := _kept(part))}


def keep_words(orders: Iterable[tuple[Order, Iterable[OrderLine]]]) -> None:
    """Store the words of new orders. Existing rows stay."""
    OrderWord.objects.bulk_create(
        (
            OrderWord(shop_id=order.shop_id, order_id=order.pk, word=word)
            for order, lines in orders
            for word in sorted(words_of(order, lines))
        ),
        ignore_conflicts=True,
    )


def find_orders(shop: Shop, text: str) -> Found:
    """Find the shop's orders for this text: by number, by the app's reference, or by the beginnings of their words."""
    orders = Order.objects.filter(shop=shop)
    searched = [word for word in map(_kept, text.split()) if word][:MAX_WORDS]
    if not searched:
        return Found(set(), True)
    # Two queries, since neither database uses both indexes for one.
    keys = set(orders.filter(client_reference=text.strip()).values_list("pk", flat=True)[:MAX_ORDERS_PER_WORD])
    named_all = len(keys) < MAX_ORDERS_PER_WORD
    if number := as_id(text.strip().removeprefix("#")):
        keys |= set(orders.filter(number=number).values_list("pk", flat=True))
    by_word = [(word, _orders_with(shop, word)) for word in searched]
    # Finds orders by the rarest word, then looks for the other words in these orders.
    rarest, found = min(by_word, key=lambda each: (not each[1].is_all, len(each[1].keys)))
    matching = found.keys
    for word, others in by_word:
        if word != rarest:
            matching = matching & others.keys if others.is_all else _of_these(matching, word)
    return Found(keys | matching, named_all and found.is_all)


def _orders_with(shop: Shop, word: str) -> Found:
    """Up to MAX_ORDERS_PER_WORD orders with such a word, first the newest with exactly this one."""
    words = OrderWord.objects.filter(shop=shop)
    exact = words.filter(word=word).order_by("-order_id").values_list("order_id", flat=True)
    found = set(exact[:MAX_ORDERS_PER_WORD])
    if len(found) == MAX_ORDERS_PER_WORD:
        return Found(found, False)
    # In any order, since PostgreSQL would sort them all. An order can have many such words.
    begun = list(
        words.filter(dialect.begins_with("word", word)).values_list("order_id", flat=True)[: MAX_ORDERS_PER_WORD * 2]
    )
    for key in begun:
        if len(found) == MAX_ORDERS_PER_WORD:
            return Found(found, False)
        found.add(key)
    return Found(found, len(begun) < MAX_ORDERS_PER_WORD * 2)


def _of_these(orders: set[int], word: str) -> set[int]:
    """The orders among these that have a word with this beginning, found by the words of each order."""
    kept = OrderWord.objects.filter(order__in=orders).values_list("order_id", "word")
    return {key for key, each in kept if each.startswith(word)}


def _kept(text: str) -> str:
    return plain(text).strip(" ,;.#\"'()")[:MAX_WORD_LENGTH]
