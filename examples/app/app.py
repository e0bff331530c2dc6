"""Gift wrapping: a sample app. It offers gift wrapping at checkout, announces it on all pages, and records sales.

README.md explains how to register, run and install it.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from html import escape

import requests
from flask import Flask, Response, abort, request
from standardwebhooks import Webhook, WebhookVerificationError

APP_SECRET = os.environ["APP_SECRET"]  # verifies messages with a token, whsec_...
APP_URL = os.environ["APP_URL"]  # where shops and browsers reach this app
SHOP_URL = os.environ.get("SHOP_URL", "https://{domain}")  # where this app reaches a shop
DATABASE = os.environ.get("DATABASE", "app.sqlite3")

TABLES = """
    CREATE TABLE IF NOT EXISTS installation (
        id INTEGER PRIMARY KEY, domain TEXT, token TEXT, issued TEXT, secret TEXT, is_active INTEGER,
        sequence INTEGER DEFAULT 0
    );
    CREATE TABLE IF NOT EXISTS event (id TEXT PRIMARY KEY, installation INTEGER, type TEXT);
    CREATE TABLE IF NOT EXISTS sale (installation INTEGER, number TEXT, total TEXT);
"""
BADGE = """
    const badge = document.createElement("p");
    badge.id = "gift-badge";
    badge.textContent = "We wrap gifts: choose it at checkout.";
    document.body.append(badge);
"""

os.umask(0o077)  # The database contains tokens: other users must not read it.
app = Flask(__name__)
app.logger.setLevel("INFO")


class Uninstalled(Exception):
    """The shop refused the token, which means that the merchant uninstalled the app."""


# Endpoints that shops call


@app.post("/install")
def install():
    """A merchant installed the app, or replaced its token. The shop repeats the call until it gets a 2xx, so every step
    is safe to repeat."""
    notification = verified_body(APP_SECRET)
    id, token, issued = (notification[name] for name in ("installation_id", "access_token", "timestamp"))
    if notification["type"] == "app.token_replaced":
        with database() as db:
            # Messages can arrive in any order: the latest token counts.
            db.execute(
                "UPDATE installation SET token = ?, issued = ? WHERE id = ? AND is_active AND issued < ?",
                (token, issued, id, issued),
            )
        return Response(status=204)
    with database() as db:
        db.execute(
            "INSERT INTO installation (id, domain, token, issued, secret, is_active) VALUES (?, ?, ?, ?, ?, 1)"
            " ON CONFLICT (id) DO UPDATE SET token = excluded.token, issued = excluded.issued,"
            " secret = excluded.secret, is_active = 1 WHERE issued <= excluded.issued",
            (id, notification["shop_domain"], token, issued, notification["webhook_secret"]),
        )
    try:
        set_up(installation_of(id))
    except Uninstalled:
        app.logger.info("Installation %s was gone before it began.", id)
    return Response(status=204)


@app.post("/installations/<int:id>/webhooks")
def receive_event(id):
    """Something happened in the shop."""
    installation = installation_of(id)
    handle_event(installation, verified_body(installation["secret"]))
    return Response(status=204)


@app.post("/installations/<int:id>/checkout-block")
def checkout_block(id):
    """A shopper is at the checkout. The shop waits at most `timeout_ms` for the response."""
    call = verified_body(installation_of(id)["secret"])
    names = ", ".join(escape(item["name_snapshot"]) for item in call["items"])
    return {"html": f"<h3>A gift?</h3><p>We wrap {names} in recycled paper. Write “gift” into the note.</p>"}


@app.get("/badge.js")
def badge():
    return Response(BADGE, content_type="text/javascript; charset=utf-8")


@app.errorhandler(WebhookVerificationError)
def not_from_the_shop(_error):
    return Response(status=401)


def verified_body(secret):
    """The body of a request, once its signature is verified. Raises WebhookVerificationError."""
    try:
        return Webhook(secret).verify(request.get_data(), dict(request.headers))
    except ValueError as malformed:  # such as a signature that is not base64
        raise WebhookVerificationError from malformed


# Actions of the app in a shop


def set_up(installation):
    """Check that the token belongs to this shop, and register the app's block, script and webhooks. Safe to repeat."""
    shop = call_shop(installation, "GET", "/shop")["shop"]
    if shop["domain"] != installation["domain"]:
        deactivate(installation)
        abort(400)
    here = f"{APP_URL}/installations/{installation['id']}"
    block = {"type": "checkout_block", "callback_url": f"{here}/checkout-block", "timeout_ms": 2000}
    # Registering these again creates no second one.
    call_shop(installation, "POST", "/extensions", block)
    call_shop(installation, "POST", "/script-tags", {"src": f"{APP_URL}/badge.js", "location": "body_end"})
    for topic in ("order.placed", "app.scopes_changed", "app.uninstalled"):
        call_shop(installation, "POST", "/webhooks", {"topic": topic, "address": f"{here}/webhooks"})
    app.logger.info("Installed in %s (%s).", shop["name"], shop["domain"])


def handle_event(installation, event):
    """Process an event once, however often it is delivered, in one transaction."""
    if event.get("test"):
        return  # A sample, to see that deliveries arrive.
    with database() as db:
        is_new = db.execute(
            "INSERT OR IGNORE INTO event VALUES (?, ?, ?)", (event["id"], installation["id"], event["type"])
        ).rowcount
        if is_new and event["type"] == "order.placed":
            order = event["data"]
            db.execute("INSERT INTO sale VALUES (?, ?, ?)", (installation["id"], order["number"], order["total"]))
    # The feed has other apps' events of this topic, too.
    if event["type"] == "app.uninstalled" and event["data"]["id"] == installation["id"]:
        deactivate(installation)


@app.cli.command()
def catch_up():
    """Read events that were not delivered. Run it once an hour."""
    with database() as db:
        active = db.execute("SELECT * FROM installation WHERE is_active").fetchall()
    for installation in active:
        try:
            read_feed(installation)
        except Uninstalled:
            app.logger.info("%s uninstalled the app.", installation["domain"])
        except requests.RequestException as error:
            app.logger.warning("%s cannot be reached: %s", installation["domain"], error)


def read_feed(installation):
    after = installation["sequence"]
    while events := call_shop(installation, "GET", f"/events?limit=500&after={after}")["events"]:
        for event in events:
            handle_event(installation, event)
        after = events[-1]["sequence"]
        with database() as db:
            db.execute("UPDATE installation SET sequence = ? WHERE id = ?", (after, installation["id"]))


def deactivate(installation):
    """The merchant uninstalled the app: delete its token and secret, and never call the shop again."""
    with database() as db:
        db.execute("UPDATE installation SET is_active = 0, token = '', secret = '' WHERE id = ?", (installation["id"],))


def call_shop(installation, method, path, body=None):
    """The JSON response of the shop's App API. Raises Uninstalled if the shop refuses the token."""
    answer = requests.request(
        method,
        SHOP_URL.format(domain=installation["domain"]) + "/api/apps" + path,
        json=body,
        headers={"X-Shop-Access-Token": installation["token"]},
        timeout=3,
        allow_redirects=False,  # A redirect could send the token to another host.
    )
    if answer.status_code == 401:
        deactivate(installation)
        raise Uninstalled
    answer.raise_for_status()
    return answer.json()


# The app's database


@contextmanager
def database() -> Iterator[sqlite3.Connection]:
    """A transaction."""
    with closing(sqlite3.connect(DATABASE)) as connection, connection:
        connection.row_factory = sqlite3.Row
        yield connection


def installation_of(id):
    """The active installation with this id. Otherwise 410, at which the shop stops retrying its deliveries."""
    with database() as db:
        return db.execute("SELECT * FROM installation WHERE id = ? AND is_active", (id,)).fetchone() or abort(410)


with database() as db:
    db.executescript(TABLES)
