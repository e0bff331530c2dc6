"""Signing in to the admin step by step, and every URL that is then open or not."""

import re

from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from storefront.kit import clock
from storefront.shops.models import Authenticator
from storefront.staff import second_factor
from tests.staff.authenticators import code_of

PASSWORD = "lighthouse-1"
KEY = b"twenty bytes of key!"


def give_app(user, key=KEY) -> Authenticator:
    """An app that was set up a while ago."""
    app = second_factor.add_authenticator(user=user, key=key, code=code_of(key), name="Phone", now=clock.now())
    Authenticator.objects.filter(pk=app.pk).update(last_step=-1)
    return app


def sign_in(browser, name="anna", **given):
    return browser.post("/admin/login/", {"username": name, "password": PASSWORD}, **given)


def half_in(user) -> Client:
    browser = Client()
    assert sign_in(browser, user.username)["Location"] == "/admin/login/second/"
    return browser


def is_in(browser) -> bool:
    return browser.get("/admin/").status_code == 200


def send(browser, code, url="/admin/login/second/", **given):
    return browser.post(url, {"code": code}, **given)


def admin_urls(patterns=None, prefix="/admin/"):
    """Every URL of the admin with its name; parts that vary are 1."""
    if patterns is None:
        (admin,) = [each for each in get_resolver().url_patterns if getattr(each, "namespace", "") == "admin"]
        patterns = admin.url_patterns
    for each in patterns:
        route = prefix + re.sub(r"<[^>]+>", "1", str(each.pattern)).replace("(?P1.*)$", "nothing")
        if isinstance(each, URLResolver):
            yield from admin_urls(each.url_patterns, route)
        elif isinstance(each, URLPattern):
            yield each.name or route, route.replace("^", "").replace("$", "")
