"""What the log shows, and what it never does."""

import io
import json
import logging
import logging.config

import pytest
import structlog

from storefront.kit import tokens
from storefront.server import logs


@pytest.fixture
def written(monkeypatch):
    """Configures logging as the product does, onto a text that the test can read."""
    before = (logging.root.handlers[:], logging.root.level)
    text = io.StringIO()

    def configure(human: bool = False) -> io.StringIO:
        config = logs.logging_config("info", human=human)
        config["handlers"]["stderr"]["stream"] = text
        logging.config.dictConfig(config)
        return text

    yield configure
    logging.root.handlers[:], logging.root.level = before


def test_a_line_is_one_json_object_whoever_logs_it(written):
    text = written()
    structlog.get_logger("storefront.test").info("opened", shop="shop.example.com", lines=2)
    logging.getLogger("some.library").warning("slow by %s s", 3)
    ours, theirs = [json.loads(line) for line in text.getvalue().splitlines()]
    assert (ours["event"], ours["shop"], ours["lines"], ours["level"]) == ("opened", "shop.example.com", 2, "info")
    assert (theirs["event"], theirs["logger"], theirs["level"]) == ("slow by 3 s", "some.library", "warning")


@pytest.mark.parametrize("human", [False, True])
def test_no_secret_gets_through_in_a_value_a_message_or_a_traceback(written, human):
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


def test_for_people_lines_are_text(written):
    text = written(human=True)
    structlog.get_logger("storefront.test").info("opened", shop="shop.example.com")
    with pytest.raises(json.JSONDecodeError):
        json.loads(text.getvalue())
    assert "opened" in text.getvalue()


def test_lines_below_the_level_are_left_out(written):
    text = written()
    structlog.get_logger("storefront.test").debug("detail")
    assert text.getvalue() == ""


def test_a_broken_page_leaves_its_traceback_under_the_requests_id_without_its_query(written, settings, client, db):
    settings.ROOT_URLCONF = "tests.server.broken_urls"
    client.raise_request_exception = False
    text = written()
    answer = client.get("/broken-page?signature=" + "a" * 64)
    assert answer.status_code == 500
    defect, request = [json.loads(line) for line in text.getvalue().splitlines()]
    assert "ZeroDivisionError" in defect["exception"]
    assert request["event"] == "request"
    assert {defect["request_id"], request["request_id"]} == {answer["X-Request-Id"]}
    assert "aaaa" not in text.getvalue()


def test_a_call_of_the_api_leaves_the_same_line_as_a_page(written, client, db):
    text = written()
    page, call = client.get("/no-such-page?q=secret"), client.get("/api/v1/cart?q=secret")
    of_page, of_call = [json.loads(line) for line in text.getvalue().splitlines()]
    assert [(name, type(value)) for name, value in of_call.items()] == [
        (name, type(value)) for name, value in of_page.items()
    ]
    assert (of_call["path"], of_call["status"]) == ("/api/v1/cart", 401)
    assert [of_page["request_id"], of_call["request_id"]] == [page["X-Request-Id"], call["X-Request-Id"]]
    assert "secret" not in text.getvalue()


def test_below_the_level_a_call_leaves_no_line(written, client, db):
    text = written()
    logging.getLogger().setLevel(logging.WARNING)
    client.get("/api/v1/cart")
    assert text.getvalue() == ""
