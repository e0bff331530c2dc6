"""The way of a paid order, from a provider's news to its events, is the one that `payments/news.py` tells."""

import re
import sys
from pathlib import Path

import storefront
from storefront.payments import news
from tests.payments.conftest import account_of, press
from tests.payments.test_news import send

ROOT = str(Path(storefront.__file__).parent)
MAX_FILES, MAX_CLIMBS = 19, 15


def test_news_go_the_way_that_the_docstring_tells(bank, shop, shopper, mug):
    press(shopper, mug)
    bank.pay(account_of(bank))
    called, entered = [], []

    def follow(frame, event, _):
        if event != "call" or not (path := _path(frame)):
            return
        called.append(f"{path.removesuffix('.py').replace('/', '.')}.{frame.f_code.co_name}")
        caller = frame.f_back
        while caller is not None and not _path(caller):
            caller = caller.f_back
        if not frame.f_code.co_name.startswith("<") and (caller is None or _path(caller) != path):
            entered.append(path)

    sys.setprofile(follow)
    try:
        send(shop, *bank.news(account_of(bank)))
    finally:
        sys.setprofile(None)
    steps = re.findall(r"`((?!order\.)[a-z_.]+\.[a-z_]+)`", news.__doc__.partition("1. ")[2].partition("8. ")[0])
    places = [min(at for at, name in enumerate(called) if name.endswith(step)) for step in steps]
    assert len(steps) == 13
    # The last two are called for each event.
    assert places[:-2] == sorted(places[:-2])
    entered = entered[entered.index("payments/news.py") :]
    assert len(set(entered)) <= MAX_FILES
    assert len(entered) - len(set(entered)) <= MAX_CLIMBS


def _path(frame) -> str:
    """The file of a room that the frame is in, without models; empty for other files."""
    path = frame.f_code.co_filename.removeprefix(f"{ROOT}/")
    rooms = r"(payments|orders|gift_cards|webhooks|checkout|carts|pricing|catalogue|customers)/"
    return path if re.match(rooms, path) and not path.endswith("models.py") else ""
