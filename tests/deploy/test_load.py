"""`make load` finds what is lost, doubled or wrong; and a short run of it finds nothing."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from deploy.local import files
from deploy.local.programs import Failed
from deploy.local.shops import STOCK
from tests.load.checking import Compared, compare_mails, compare_orders, compare_stock, pods_by_host
from tests.load.moves import Moves
from tests.load.report import Run
from tests.load.shoppers import Seen
from tests.server.programs import clean_environment

pytestmark = pytest.mark.any_database
ROOT = Path(__file__).parents[2]
SHOP = {"domain": "shop-1.localhost", "products": [[7, "mug", "Mug of shop 1"]]}


def seen(*emails: str, in_doubt: tuple[str, ...] = ()) -> Seen:
    return Seen(orders={email: (SHOP["domain"], f"order-of-{email}", 7) for email in emails}, in_doubt=list(in_doubt))


def stored(*emails: str) -> dict[str, list[list]]:
    orders = [[email, f"order-of-{email}", SHOP["domain"]] for email in emails]
    return {"orders": orders, "lines": [[email, 7, 1] for email in emails], "stock": [[7, STOCK - len(emails)]]}


def compared(rows: dict[str, list[list]], by: Seen) -> Compared:
    found = Compared()
    compare_orders(found, rows, by)
    compare_stock(found, rows, [SHOP])
    return found


def problems(found: Compared, by: Seen, **moves) -> set[str]:
    run = Run(20.0, 20.0, 40.0, by, [], Moves(0, **moves), found, {})
    assert run.is_right == (not run.problems())
    return set(run.problems())


def test_what_agrees_is_right():
    by = seen("ada", "bob")
    assert problems(compared(stored("ada", "bob"), by), by) == set()


def test_a_lost_order():
    by = seen("ada", "bob")
    found = compared(stored("ada"), by)
    assert found.lost == ["bob in shop-1.localhost"]
    assert problems(found, by) == {"orders lost"}


def test_an_order_of_another_shop_does_not_count():
    rows = stored("ada")
    rows["orders"][0][2] = "shop-2.localhost"
    assert compared(rows, seen("ada")).lost == ["ada in shop-1.localhost"]


def test_a_doubled_order_and_two_pieces_instead_of_one():
    assert compared(stored("ada", "ada"), seen("ada")).doubled == ["ada"]
    rows = stored("ada")
    rows["lines"][0][2] = 2
    assert compared(rows, seen("ada")).doubled == ["ada"]


def test_an_order_that_nobody_asked_for_and_one_in_doubt():
    found = compared(stored("ada", "bob", "eve"), seen("ada", in_doubt=("bob",)))
    assert (found.unknown, found.unseen) == (["eve"], ["bob"])


def test_a_wrong_stock():
    rows = stored("ada")
    rows["stock"] = [[7, STOCK]]
    assert problems(compared(rows, seen("ada")), seen("ada")) == {"products whose stock is wrong"}


def test_a_missing_mail(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.load.checking.MAIL_SECONDS", 0)
    (tmp_path / "1.log").write_text("Subject: Your order\nTo: ada\n\nTo: all\n")
    found = Compared()
    compare_mails(found, tmp_path, seen("ada", "bob"))
    assert (found.mails, found.without_mail) == (1, ["bob"])


def test_what_shoppers_and_moves_report_is_a_problem():
    by = seen("ada")
    found = compared(stored("ada"), by)
    by.unannounced.append("502 at GET shop-1.localhost/")
    by.foreign.append("/products/mug of shop-1.localhost: ['2']")
    by.refused.append("404 at GET shop-1.localhost/")
    by.broken.append(ValueError("no form"))
    assert problems(found, by, failed=["shop-1.localhost (away)"]) == {
        "answers of 5xx without Retry-After",
        "answers with another shop's products",
        "calls and pages refused",
        "shoppers who gave up",
        "shops not moved",
    }


def test_without_an_order_nothing_was_shown():
    assert not Run(20.0, 20.0, 40.0, Seen(), [], Moves(0), Compared(), {}).is_right


def test_pods_are_read_from_nginxs_map(tmp_path):
    class Deployment:
        map = tmp_path / "pods.map"

    Deployment.map.write_text('map $host $storefront_page_pod {\n    default 0;\n    "a.test" 0;\n    "b.test" 1;\n}\n')
    assert Counter(pods_by_host(Deployment)) == Counter({"a.test": 0, "b.test": 1})  # type: ignore[arg-type]


@pytest.mark.proof
@pytest.mark.timeout(900)
def test_a_short_load_loses_nothing():
    try:
        files.find_programs()
    except Failed as missing:
        pytest.skip(str(missing))
    given = {"seconds": 20, "shops": 4, "moves": 0, "kills": 1, "rate": 20}
    arguments = [part for name, value in given.items() for part in (f"--{name}", str(value))]
    done = subprocess.run(
        [sys.executable, "-m", "tests.load", *arguments],
        env=clean_environment(),
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=800,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "| A web server of pod 0, all its processes |" in done.stdout
    assert "1 programs were killed." in done.stdout
    assert "0 lost, 0 doubled" in done.stdout
    assert "No shop was moved" in done.stdout
