"""Traces for OpenTelemetry: what is in them, and what never is."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty

import pytest
import requests
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from storefront.server.tracing import statement_without_values
from tests.databases import database
from tests.receiver import Receiver, receiving
from tests.server.programs import clean_environment, storefront, wait_until
from tests.server.test_serve import Served, serving

pytestmark = [pytest.mark.slow, pytest.mark.any_database]

ROOT = Path(__file__).parents[2]
SET_UP = """
import json
from storefront.customers.jobs import send_notice
from storefront.kit import clock
from storefront.webhooks import actions
from tests.catalogue.factories import make_product
from tests.factories.apps import install
from tests.shops.factories import make_shop, make_token
shop = make_shop("shop.example.com")
make_product(shop, slug="mug")
app = install(shop, "read_orders")
given = {"topic": "order.placed", "address": "RECEIVER/zzpath?key=zzquery", "now": clock.now()}
actions.register_webhook(shop=shop, installation_id=app.installation.pk, **given)
actions.send_test(shop=shop, installation_id=app.installation.pk, key="order.placed", now=clock.now())
send_notice.enqueue(shop.pk, "zzmail@mail.example.com", "password_changed")
print(json.dumps([make_token(shop)]))
"""


@dataclass
class Traced:
    served: Served
    collector: Receiver
    token: str
    exported: bytes = b""

    def ask(self, path: str, **headers: str) -> requests.Response:
        given = {"Authorization": f"Bearer {self.token}", "Connection": "close"} | headers
        return requests.get(f"http://127.0.0.1:{self.served.port}{path}", headers=given, timeout=30)

    def spans(self) -> list[tuple[Span, dict]]:
        """All spans that have arrived until now, with their attributes."""
        while True:
            try:
                received = self.collector.received.get_nowait()
            except Empty:
                break
            assert received.path == "/v1/traces"
            self.exported += received.body
        # Requests of protobuf can be concatenated.
        whole = ExportTraceServiceRequest.FromString(self.exported)
        found = [span for each in whole.resource_spans for scope in each.scope_spans for span in scope.spans]
        return [(span, {each.key: _value(each.value) for each in span.attributes}) for span in found]

    def wait_for(self, name: str, **attributes) -> tuple[Span, dict]:
        def find():
            for span, given in self.spans():
                if span.name == name and all(given.get(key) == value for key, value in attributes.items()):
                    return span, given
            return None

        return wait_until(find, what=f"the span {name}", process=self.served.process)


def _value(given):
    return getattr(given, given.WhichOneof("value"))


@contextmanager
def traced(migrated, directory: Path, **given: str) -> Iterator[Traced]:
    with database(directory, copied_from=migrated) as environment, receiving() as app, receiving() as collector:
        environment |= {"STOREFRONT_ALLOW_PRIVATE_CALLBACKS": "1", "PYTHONPATH": str(ROOT)}
        done = storefront("shell", "--no-imports", "-c", SET_UP.replace("RECEIVER", app.url), **environment)
        assert done.returncode == 0, done.stderr
        (token,) = json.loads(done.stdout.splitlines()[-1])
        otel = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_BSP_SCHEDULE_DELAY": "100"}
        with serving(environment | otel | given) as served:
            yield Traced(served, collector, token)


def test_requests_tasks_webhooks_and_statements_are_traced_without_secrets(migrated, tmp_path):
    with traced(migrated, tmp_path) as shop:
        asked = shop.ask("/api/v1/products/mug?q=zzsearch")
        assert asked.status_code == 200
        request, attributes = shop.wait_for("GET api/v1/products/<id_or_slug>")
        assert attributes["http.response.status_code"] == 200
        assert attributes["url.path"] == "/api/v1/products/mug"
        assert attributes["storefront.shop"] == "shop.example.com"
        assert attributes["storefront.request_id"] == asked.headers["X-Request-Id"]
        assert request.kind == Span.SPAN_KIND_SERVER
        statements = [given for span, given in shop.spans() if span.parent_span_id == request.span_id]
        assert any("shops_apitoken" in given["db.query.text"] for given in statements)

        link = "/cart/resume?cart=1&expires=9999999999&signature=" + "abcdef01" * 8
        shop.ask(link, Host="shop.example.com")
        shop.wait_for("GET cart/resume")
        hook, attributes = shop.wait_for("webhook", **{"http.response.status_code": 200})
        assert attributes["server.address"] == "127.0.0.1"
        assert hook.kind == Span.SPAN_KIND_CLIENT
        task, _ = shop.wait_for("task send_notice")
        wait_until(
            lambda: [span for span, _ in shop.spans() if span.parent_span_id == task.span_id], what="its statements"
        )
        shop.spans()
        for secret in (shop.token, "zz", "abcdef01", "Bearer", "whsec_"):
            assert secret.encode() not in shop.exported, secret


def test_a_trace_of_a_trusted_proxy_goes_on_and_that_of_a_stranger_does_not(migrated, tmp_path):
    begun = {"traceparent": f"00-{'ab' * 16}-{'cd' * 8}-01"}
    with traced(migrated, tmp_path) as shop:
        shop.ask("/api/v1/products/mug", **begun)
        span, _ = shop.wait_for("GET api/v1/products/<id_or_slug>")
        assert (span.trace_id.hex(), span.parent_span_id.hex()) == ("ab" * 16, "cd" * 8)
    (tmp_path / "other").mkdir()
    with traced(migrated, tmp_path / "other", STOREFRONT_TRUSTED_PROXIES="10.0.0.1") as shop:
        shop.ask("/api/v1/products/mug", **begun)
        span, _ = shop.wait_for("GET api/v1/products/<id_or_slug>")
        assert span.trace_id.hex() != "ab" * 16
        assert not span.parent_span_id


def test_a_collector_that_does_not_answer_delays_neither_requests_nor_the_end(migrated, tmp_path):
    with traced(migrated, tmp_path) as shop:
        shop.collector.hold()
        for _ in range(5):
            assert shop.ask("/api/v1/cart").status_code == 200
        assert shop.collector.next().path == "/v1/traces"
        shop.served.process.terminate()
        assert shop.served.process.wait(15) == 0
        shop.collector.let_go()
        assert not shop.served.lines("child_killed")


def test_without_an_endpoint_nothing_that_traces_is_imported(tmp_path):
    # redis imports metrics of OpenTelemetry by itself, where they are installed.
    heavy = ("opentelemetry.sdk.trace", "opentelemetry.exporter", "google.")
    script = (
        "import storefront.server.wsgi, storefront.server.worker.worker, sys\n"
        f"print([name for name in sys.modules if name.startswith({heavy})])"
    )
    environment = clean_environment(STOREFRONT_DATA_DIR=str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318", "expected a URL that begins with http:// or https://"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "expected one of http/protobuf"),
    ],
)
def test_what_cannot_be_exported_is_refused(tmp_path, name, value, expected):
    given = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318", "STOREFRONT_DATA_DIR": str(tmp_path), name: value}
    done = storefront("worker", **given)
    assert done.returncode == 2
    assert f"storefront: {name}" in done.stderr
    assert expected in done.stderr


def test_a_statement_has_no_values():
    statement = "SELECT *\n FROM t WHERE a = 'it''s hidden' AND b = %s AND c > 12.5 LIMIT 21"
    assert statement_without_values(statement) == "SELECT * FROM t WHERE a = ? AND b = %s AND c > ? LIMIT ?"
    assert statement_without_values("SELECT 'hidden" + "x" * 5000 + "'") == "SELECT ?"
    assert len(statement_without_values("SELECT a, " * 5000)) == 1000
