"""Callers that send or read slowly do not delay others. Tests the real server over TCP."""

import json
import os
import re
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import psycopg
import pytest
import requests

from tests.databases import database
from tests.server.programs import free_port, storefront, wait_until
from tests.server.test_serve import Served, serving

pytestmark = [pytest.mark.any_database, pytest.mark.slow]

THREADS = 8
# The deadline for bodies in these tests, how long anybody else may wait, and a client's patience, in seconds.
DEADLINE, BOUND, PATIENCE = 8, 6, 60
PREPARE = """
from django.test import Client
from storefront.catalogue import actions
from storefront.kit import clock
from storefront.staff import staff_sessions
from storefront.shops.models import Shop, StaffMember, User
shop = Shop.objects.get()
product = actions.create_product(shop=shop, now=clock.now(), name="Mug", status="active", price="5.00")
anna = User.objects.create_user("anna", email="anna@example.com", is_staff=True)
StaffMember.objects.create(shop=shop, user=anna, role="owner")
client = Client()
client.force_login(anna)
given = {"place": "127.0.0.1", "browser": "a test", "has_second_factor": True, "now": clock.now()}
staff_sessions.begin_session(session=client.session, user=anna, **given)
print(product.pk, *(f"{name}={cookie.value}" for name, cookie in client.cookies.items()))
"""


class Shop:
    """A served shop with a product, an integration's token and the cookie of its owner."""

    def __init__(self, served: Served, token: str, product: str, cookie: str, database: str, figures: int) -> None:
        self.database, self.served, self.product, self.cookie = database, served, int(product), cookie
        self.url, self.figures = f"http://127.0.0.1:{served.port}", f"http://127.0.0.1:{figures}/metrics"
        self.authorization = {"Authorization": f"Bearer {token}"}

    def get(self, path: str) -> requests.Response:
        return requests.get(self.url + path, headers=self.authorization, timeout=PATIENCE)

    def hits(self) -> float:
        """How many answers came from memory."""
        figures = requests.get(self.figures, timeout=PATIENCE).text
        found = re.search(r'storefront_edge_requests_total\{.*"hit"\} (.+)', figures)
        return float(found[1]) if found else 0

    def add_to_cart(self) -> requests.Response:
        body = {"product_id": self.product, "qty": 1}
        return requests.post(f"{self.url}/api/v1/cart", json=body, headers=self.authorization, timeout=PATIENCE)

    def connect(self) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self.served.port))
        connection.settimeout(PATIENCE)
        return connection

    def send(self, head: str, body: bytes = b"") -> "Answer":
        """The response to these lines and this body."""
        with closing(self.connect()) as connection:
            connection.sendall(head.replace("\n", "\r\n").encode() + b"\r\n\r\n" + body)
            return Answer(connection)


class Answer:
    def __init__(self, connection: socket.socket) -> None:
        read = b""
        while b"\r\n\r\n" not in read and (piece := connection.recv(65536)):
            read += piece
        head, _, self.body = read.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        self.status = int(lines[0].split()[1]) if read else 0
        self.headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        while len(self.body) < int(self.headers.get("content-length", 0)) and (piece := connection.recv(65536)):
            self.body += piece


@pytest.fixture(scope="module")
def shop(migrated, tmp_path_factory) -> Iterator[Shop]:
    directory = tmp_path_factory.mktemp("gate")
    with database(directory, copied_from=migrated) as environment:
        made = ["--domain", "s.example", "--name", "S", "--base-url", "https://s.example"]
        assert storefront("createshop", *made, **environment).returncode == 0
        scopes = "read_products,read_cart,write_cart"
        token = storefront("createtoken", "--shop", "s.example", "--scopes", scopes, **environment).stdout.strip()
        product, cookie = storefront("shell", "--no-imports", "-c", PREPARE, **environment).stdout.split()
        figures = free_port()
        environment |= {"STOREFRONT_BODY_SECONDS": str(DEADLINE), "STOREFRONT_METRICS": str(figures)}
        with serving(environment, "--threads", str(THREADS), "--no-worker") as served:
            file = f"{environment['STOREFRONT_DATA_DIR']}/storefront.sqlite3"
            shop = Shop(served, token, product, cookie, environment.get("DATABASE_URL", file), figures)
            # What a process does once, at its first page and its first call, is not what these tests measure.
            answers = [shop.get("/products"), shop.get(f"/api/v1/products/{product}"), shop.add_to_cart()]
            assert [answer.status_code for answer in answers] == [200, 200, 201]
            yield shop


@contextmanager
def trickle(connections: list[socket.socket], piece: bytes) -> Iterator[None]:
    """Send a piece on each connection several times a second, until the end."""
    over = threading.Event()

    def send() -> None:
        while not over.wait(0.2):
            for connection in connections:
                try:
                    connection.sendall(piece)
                except OSError:
                    # The server has closed it.
                    continue

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    try:
        yield
    finally:
        over.set()
        sender.join()


FORM = "POST /sign-in HTTP/1.1\nHost: s.example\nContent-Type: application/x-www-form-urlencoded\n"
CALL = "POST /api/v1/cart HTTP/1.1\nHost: s.example\nContent-Type: application/json\n"
LENGTH, CHUNKED = "Content-Length: 5000", "Transfer-Encoding: chunked"


@pytest.mark.parametrize(
    ("head", "piece"),
    [(FORM + LENGTH, b"a"), (CALL + LENGTH, b" "), (FORM + CHUNKED, b"1\r\na\r\n"), (CALL + LENGTH, b"")],
    ids=["a form", "a call", "in chunks", "silent"],
)
def test_slow_senders_delay_nobody_and_time_out(shop, head, piece):
    shop.get(f"/api/v1/products/{shop.product}")
    with ExitStack() as stack:
        slow = [stack.enter_context(closing(shop.connect())) for _ in range(4 * THREADS)]
        for connection in slow:
            connection.sendall(head.replace("\n", "\r\n").encode() + b"\r\n\r\n")
        began = time.monotonic()
        with trickle(slow, piece):
            assert shop.get(f"/api/v1/products/{shop.product}").status_code == 200
            assert shop.get("/static/website/shop.css").status_code == 200
            assert shop.get("/products").status_code == 200
            assert shop.add_to_cart().status_code == 201
            assert time.monotonic() - began < BOUND
            answers = [Answer(connection) for connection in slow]
        assert {answer.status for answer in answers} == {408}
        assert time.monotonic() - began < DEADLINE + BOUND
        if "/api" in head:
            assert json.loads(answers[0].body)["code"] == "request_timeout"
        else:
            assert b"<h1>That took too long</h1>" in answers[0].body
            assert answers[0].headers["content-type"] == "text/html; charset=utf-8"
        assert answers[0].headers["connection"] == "close"
        for connection in slow:
            is_closed(connection)


def is_closed(connection: socket.socket) -> bool:
    """Wait until the server has closed the connection. A time-out fails the test."""
    try:
        while connection.recv(65536):
            pass
    except ConnectionResetError:
        pass
    return True


@contextmanager
def stalled(database: str) -> Iterator[None]:
    """The database answers no write until the end, and on PostgreSQL nothing that asks for a token or a shop."""
    if not database.startswith("postgres"):
        with closing(sqlite3.connect(database, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield
        return
    with psycopg.connect(database) as connection:
        connection.execute("LOCK TABLE shops_apitoken, shops_shop, carts_cart IN ACCESS EXCLUSIVE MODE")
        yield


def test_what_needs_no_database_is_answered_while_it_holds_every_thread(shop):
    product = f"/api/v1/products/{shop.product}"
    with requests.Session() as session, ThreadPoolExecutor(2 * THREADS) as callers:
        session.headers.update(shop.authorization | {"Accept-Encoding": "identity"})

        def is_in_memory() -> bool:
            # The process's first request starts the listener, whose connection ends what was in memory before.
            assert session.get(shop.url + product, timeout=PATIENCE).status_code == 200
            return shop.hits() > before

        before = shop.hits()
        wait_until(is_in_memory, what="an answer from memory")
        with stalled(shop.database):
            calls = [callers.submit(shop.add_to_cart) for _ in range(2 * THREADS)]
            # So that they take every thread. Where they are slower, the test sees less, and passes.
            time.sleep(0.5)
            for path in (product, "/static/website/shop.css", "/livez"):
                assert session.get(shop.url + path, timeout=PATIENCE).status_code == 200
            assert not any(call.done() for call in calls)
        assert {call.result().status_code for call in calls} == {201}


def test_slow_readers_delay_nobody(shop):
    """The file is larger than the system's buffer of a connection."""
    media = shop.served.log.parent / "media"
    media.mkdir(exist_ok=True)
    content = bytes(range(256)) * 160_000
    (media / "large.png").write_bytes(content)
    with ExitStack() as stack:
        slow = [stack.enter_context(closing(shop.connect())) for _ in range(3 * THREADS)]
        for connection in slow:
            connection.sendall(b"GET /media/large.png HTTP/1.1\r\nHost: s.example\r\n\r\n")
            assert connection.recv(1)
        began = time.monotonic()
        assert shop.get("/products").status_code == 200
        assert shop.get("/static/website/shop.css").status_code == 200
        assert time.monotonic() - began < BOUND
    assert shop.get("/media/large.png").content == content


def large_static_file(shop) -> tuple[str, bytes]:
    static = shop.served.log.parent / "static"
    name = max((path for path in static.rglob("*.js")), key=lambda path: path.stat().st_size)
    content = name.read_bytes()
    assert len(content) > 200_000
    return f"/static/{name.relative_to(static)}", content


def test_part_of_a_large_file_is_sent(shop):
    path, content = large_static_file(shop)
    for wanted, expected in (("bytes=5-9", content[5:10]), ("bytes=10-", content[10:])):
        part = {"Range": wanted, "Accept-Encoding": "identity"}
        answer = requests.get(shop.url + path, headers=part, timeout=PATIENCE)
        assert (answer.status_code, answer.content) == (206, expected)
    assert requests.get(shop.url + path, headers={"Accept-Encoding": "identity"}, timeout=PATIENCE).content == content


def test_the_owner_uploads_a_large_file_and_exports_the_catalogue(shop):
    desk = requests.Session()
    desk.headers["Cookie"] = shop.cookie
    page = desk.get(f"{shop.url}/admin/catalogue/productimport/add/", timeout=PATIENCE)
    assert page.status_code == 200
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)
    assert token
    desk.headers["Cookie"] += "; " + "; ".join(f"{name}={value}" for name, value in page.cookies.items())
    line = json.dumps({"name": "Jug", "sku": "J1", "price": "2.00", "description": "x" * 2000}) + "\n"
    form = {"csrfmiddlewaretoken": token[1], "format": "native"}
    answer = desk.post(
        f"{shop.url}/admin/catalogue/productimport/add/",
        data=form,
        files={"file": ("jugs.jsonl", line * 2500)},
        allow_redirects=False,
        timeout=PATIENCE,
    )
    assert answer.status_code == 302, answer.text
    uploads = list((shop.served.log.parent / "private").rglob("*.jsonl"))
    assert [path.stat().st_size for path in uploads] == [len(line) * 2500]
    taken = desk.get(f"{shop.url}/admin/catalogue/productimport/export/native/", timeout=PATIENCE)
    assert (taken.status_code, json.loads(taken.content)["name"]) == (200, "Mug")


UPLOAD = "Content-Type: multipart/form-data; boundary=b\nContent-Length: 100000000"


@pytest.mark.parametrize(
    ("path", "status"), [("/admin/catalogue/productimport/add/", 302), ("/admin/login/", 403), ("/admin/nowhere", 302)]
)
def test_a_strangers_upload_is_refused_unread(shop, path, status):
    """The response comes before any of the body is sent."""
    answer = shop.send(f"POST {path} HTTP/1.1\nHost: s.example\n{UPLOAD}")
    assert answer.status == status
    assert answer.headers["connection"] == "close"


@pytest.mark.parametrize("path", ["/sign-in", "/checkout", "/media/a.png"])
def test_large_bodies_are_refused_outside_the_admin(shop, path):
    answer = shop.send(f"POST {path} HTTP/1.1\nHost: s.example\n{UPLOAD}")
    assert (answer.status, b"<h1>That is too large</h1>" in answer.body) == (413, True)


def test_the_api_refuses_large_bodies_with_its_own_error(shop):
    head = f"{CALL}Authorization: {shop.authorization['Authorization']}\n"
    announced = shop.send(head + "Content-Length: 1048577")
    chunk = b"%x\r\n%s\r\n" % (70_000, b" " * 70_000)
    in_chunks = shop.send(head + CHUNKED, chunk * 16)
    for answer in (announced, in_chunks):
        assert (answer.status, json.loads(answer.body)["code"]) == (413, "too_large")


def test_only_as_much_as_was_announced_is_read(shop):
    head = f"{CALL}Authorization: {shop.authorization['Authorization']}\nContent-Length: 12"
    answer = shop.send(head, b'{"product_id": 1, "qty": 1}')
    # What follows is read as the next request, and refused.
    assert (answer.status, b'"code":"malformed_json"' in answer.body) == (400, True)


def test_a_credential_sent_twice_is_refused(shop):
    credential = f"Authorization: {shop.authorization['Authorization']}"
    assert shop.send(f"GET /api/v1/cart HTTP/1.1\nHost: s.example\n{credential}\n{credential}").status == 401


def test_a_chunked_body_is_read(shop):
    head = f"{CALL}Authorization: {shop.authorization['Authorization']}\n{CHUNKED}"
    body = json.dumps({"product_id": shop.product, "qty": 1}).encode()
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(body[at : at + 7]), body[at : at + 7]) for at in range(0, len(body), 7))
    answer = shop.send(head, chunks + b"0\r\n\r\n")
    assert (answer.status, json.loads(answer.body)["message"]) == (201, "Item added to cart.")


def test_expect_100_continue_is_answered_only_if_the_body_will_be_read(shop):
    body = json.dumps({"product_id": shop.product, "qty": 1}).encode()
    head = f"{CALL}Authorization: {shop.authorization['Authorization']}\nExpect: 100-continue\n"
    with closing(shop.connect()) as connection:
        connection.sendall(f"{head}Content-Length: {len(body)}".replace("\n", "\r\n").encode() + b"\r\n\r\n")
        assert connection.recv(1000).startswith(b"HTTP/1.1 100 Continue")
        connection.sendall(body)
        assert Answer(connection).status == 201
    assert shop.send(head + "Content-Length: 9999999").status == 413


@pytest.mark.parametrize("length", ["x", "-1", "1.5", "9" * 30])
def test_an_invalid_content_length_is_refused(shop, length):
    assert shop.send(f"{CALL}Content-Length: {length}").status == 400


def test_a_caller_who_disconnects_half_way_is_not_served(shop):
    """Not even if the received part would be a complete call."""

    def counted(status: int) -> int:
        return sum(line["status"] == status for line in shop.served.lines("request"))

    body = json.dumps({"product_id": shop.product, "qty": 1}).encode()
    head = f"{CALL}Authorization: {shop.authorization['Authorization']}\n"
    before, served = counted(400), counted(201)
    chunk = b"%x\r\n%s\r\n" % (len(body), body)
    for kind, sent in ((f"Content-Length: {len(body) + 1}", body), (CHUNKED, chunk)):
        with closing(shop.connect()) as connection:
            connection.sendall((head + kind).replace("\n", "\r\n").encode() + b"\r\n\r\n" + sent)
    wait_until(lambda: counted(400) == before + 2, what="both refusals", seconds=60)
    assert counted(201) == served


def test_an_idle_connection_is_closed(shop):
    with closing(shop.connect()) as silent, closing(shop.connect()) as half:
        half.sendall(b"GET / HTTP/1.1\r\nHost: s.exa")
        idle = shop.connect()
        idle.sendall(b"GET /api/v1/products HTTP/1.1\r\nHost: s.example\r\n\r\n")
        assert Answer(idle).status == 401
        began = time.monotonic()
        with closing(idle):
            assert all(is_closed(connection) for connection in (silent, half, idle))
        assert time.monotonic() - began < 8


def test_a_header_with_an_underscore_is_dropped(shop):
    """`X_Shop_Access_Token` would be the same key in WSGI."""
    head = f"GET /api/v1/products HTTP/1.1\nHost: s.example\nX_Shop_Access_Token: a\nAuthorization_: {'b'}"
    told = {"Authorization": shop.authorization["Authorization"]}
    with_it = f"{head}\nAuthorization: {told['Authorization']}"
    assert shop.send(with_it).status == 200


def test_temporary_files_of_a_request_are_deleted(shop):
    """Neither those of request bodies nor those of responses."""
    descriptors = Path(f"/proc/{web_process(shop.served)}/fd")

    def count() -> int:
        names = [os.path.realpath(each) for each in descriptors.iterdir()]
        return sum("large.png" in name or name.endswith("(deleted)") for name in names)

    before, (path, content) = count(), large_static_file(shop)
    part = {"Range": "bytes=10-", "Accept-Encoding": "identity"}
    with requests.Session() as session:
        for _ in range(3):
            shop.get("/media/large.png")
            # Part of a file is sent through a temporary one; all of them on one connection.
            assert session.get(shop.url + path, headers=part, timeout=PATIENCE).content == content[10:]
        wait_until(lambda: count() <= before, what="the files' end", seconds=60)


def web_process(served: Served) -> int:
    web = served.child("web")
    assert web
    return int(Path(f"/proc/{web}/task/{web}/children").read_text().split()[0])
