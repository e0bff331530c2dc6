"""The format of log lines, and the secrets that they never contain."""

import io
import json
import logging
import logging.config

import pytest
import structlog

from storefront.kit import tokens
from storefront.server import logs
from storefront.server.edge import access_log
from storefront.shops.models import ApiToken, User
from tests.checkout.shopper import Shopper
from tests.customers.factories import PASSWORD, make_customer
from tests.shops.factories import make_token
from tests.staff import make_staff, open_desk


@pytest.fixture
def written(monkeypatch):
    """Configures logging as the product does, onto a text that the test can read."""
    # The edge's lines from earlier tests, which a thread would write later.
    access_log.buffer.flush()
    before = (logging.root.handlers[:], logging.root.level)
    text = io.StringIO()

    def configure(human: bool = False) -> io.StringIO:
        config = logs.logging_config("info", human=human)
        config["handlers"]["stderr"]["stream"] = text
        logging.config.dictConfig(config)
        return text

    yield configure
    logging.root.handlers[:], logging.root.level = before


def test_every_line_is_one_json_object(written):
    text = written()
    structlog.get_logger("storefront.test").info("opened", shop="shop.example.com", lines=2)
    logging.getLogger("some.library").warning("slow by %s s", 3)
    ours, theirs = [json.loads(line) for line in text.getvalue().splitlines()]
    assert (ours["event"], ours["shop"], ours["lines"], ours["level"]) == ("opened", "shop.example.com", 2, "info")
    assert (theirs["event"], theirs["logger"], theirs["level"]) == ("slow by 3 s", "some.library", "warning")


@pytest.mark.parametrize("human", [False, True])
def test_secrets_are_redacted_in_values_messages_and_tracebacks(written, human):
    text = written(human)
    token = tokens.new_token("cart")
    secrets = [token, "0123456789abcdef" * 4, "hidden-word", "a+b/" * 10 + "cde="]
    said = f"Bearer {token} /cart/resume?cart=1&signature={secrets[1]} postgres://shop:{secrets[2]}@db/shop"
    said += f" whsec_{secrets[3]}"
    structlog.get_logger("storefront.test").info(said, url=said, nested={"deep": [said]})
    logging.getLogger("some.library").warning("asked %s", said)
    try:
        local = said  # A renderer that shows local variables would show this one.
        raise ValueError(local)
    except ValueError:
        structlog.get_logger("storefront.test").exception("defect")
        logging.getLogger("some.library").exception("broke")
    shown = text.getvalue()
    assert "ValueError" in shown
    assert "/cart/resume" in shown
    assert not [secret for secret in secrets if secret in shown]
    assert "signature=…" in shown


def test_lines_are_text_in_a_terminal(written):
    text = written(human=True)
    structlog.get_logger("storefront.test").info("opened", shop="shop.example.com")
    with pytest.raises(json.JSONDecodeError):
        json.loads(text.getvalue())
    assert "opened" in text.getvalue()


def test_lines_below_the_level_are_left_out(written):
    text = written()
    structlog.get_logger("storefront.test").debug("detail")
    assert text.getvalue() == ""


def test_a_broken_page_logs_a_traceback_with_the_request_id_and_no_query(written, settings, client, db):
    settings.ROOT_URLCONF = "tests.server.broken_urls"
    client.raise_request_exception = False
    text = written()
    answer = client.get("/broken-page?signature=" + "a" * 64)
    assert answer.status_code == 500
    defect, request = [json.loads(line) for line in text.getvalue().splitlines()]
    assert "ZeroDivisionError" in defect["exception"]
    assert (defect["event"], defect["path"]) == ("Internal Server Error", "/broken-page")
    assert request["event"] == "request"
    assert {defect["request_id"], request["request_id"]} == {answer["X-Request-Id"]}
    assert "a" * 9 not in text.getvalue()


def test_an_api_call_logs_the_same_line_as_a_page(written, client, db):
    text = written()
    page, call = client.get("/no-such-page?q=secret"), client.get("/api/v1/cart?q=secret")
    of_page, of_call = [json.loads(line) for line in text.getvalue().splitlines()]
    assert [(name, type(value)) for name, value in of_call.items()] == [
        (name, type(value)) for name, value in of_page.items()
    ]
    assert (of_call["path"], of_call["status"]) == ("/api/v1/cart", 401)
    assert [of_page["request_id"], of_call["request_id"]] == [page["X-Request-Id"], call["X-Request-Id"]]
    assert "secret" not in text.getvalue()


def test_an_api_call_below_the_level_is_not_logged(written, client, db):
    text = written()
    logging.getLogger().setLevel(logging.WARNING)
    client.get("/api/v1/cart")
    assert text.getvalue() == ""


@pytest.mark.parametrize("before", ["", "/shop.example.com"])
@pytest.mark.parametrize("rest", ["", "/e-mail"])
def test_order_ids_are_shortened(written, client, shop, before, rest):
    """The URL of an order alone opens it for a day."""
    text = written()
    id = "1a2b3c4d-5e6f-4a1b-8c2d-3e4f5a6b7c8d"
    for each in (id, id.upper()):
        client.get(f"{before}/orders/{each}{rest}")
    shown = [json.loads(line)["path"] for line in text.getvalue().splitlines() if '"request"' in line]
    assert shown == [f"{before}/orders/{each}…{rest}" for each in (id[:8], id[:8].upper())]
    assert id[9:18] not in text.getvalue().lower()


def test_the_path_of_a_broken_page_is_without_secrets(written, settings, client, db):
    settings.ROOT_URLCONF = "tests.server.broken_urls"
    client.raise_request_exception = False
    text = written()
    id = "1a2b3c4d-5e6f-4a1b-8c2d-3e4f5a6b7c8d"
    assert client.get(f"/orders/{id}/broken").status_code == 500
    defect, _ = [json.loads(line) for line in text.getvalue().splitlines()]
    assert (defect["event"], defect["path"]) == ("Internal Server Error", f"/orders/{id[:8]}…/broken")
    assert id[9:18] not in defect["event"] + defect["path"]


def test_signatures_of_downloads_are_left_out(written, client, shop):
    """Such a URL alone gets the file for a day."""
    text = written()
    client.get("/downloads/7-12-3.xTv4kEFbS0MGDfSjXhbXtQ2Y0rcSVG_CDuP8p33ubWA")
    client.get("/shop.example.com/downloads/7-12-3.xTv4kEFbS0MG/more")
    shown = [json.loads(line)["path"] for line in text.getvalue().splitlines() if '"request"' in line]
    assert shown == ["/downloads/7-12-3…", "/shop.example.com/downloads/7-12-3…/more"]
    assert "xTv4" not in text.getvalue()


def test_lines_of_a_request_name_the_shop_and_the_caller(written, client, shop, settings):
    token = make_token(shop, "read_products")
    text = written()
    client.get("/api/v1/products", headers={"authorization": f"Bearer {token}"})
    client.get("/nothing", headers={"host": shop.domain})
    desk = open_desk(make_staff(shop))
    desk.get("/admin/")
    called, seen, managed = [json.loads(line) for line in text.getvalue().splitlines() if '"event": "request"' in line]
    assert (called["shop"], called["caller"]) == (shop.domain, f"token {ApiToken.objects.get().pk}")
    assert (seen["shop"], "caller" in seen) == (shop.domain, False)
    assert (managed["shop"], managed["caller"]) == (shop.domain, f"staff {User.objects.get().pk}")
    assert token not in text.getvalue()


def test_a_signed_in_customer_is_named_by_id(written, shop):
    customer = make_customer(shop)
    shopper = Shopper(shop)
    shopper.post("/account/sign-in", {"email": customer.email, "password": PASSWORD})
    text = written()
    assert shopper.get("/account").status_code == 200
    (line,) = [json.loads(line) for line in text.getvalue().splitlines() if '"event": "request"' in line]
    assert (line["shop"], line["caller"]) == (shop.domain, f"customer {customer.pk}")
    assert "@" not in text.getvalue()
