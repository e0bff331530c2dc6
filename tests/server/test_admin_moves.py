"""Every address of the admin declares what a request to it can move; what moves nothing is the exception."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.apps import apps
from django.contrib import admin
from django.contrib.sessions.models import Session
from django.db import transaction
from django.urls import reverse

from storefront.shops.models import Shop, StaffSession, User
from storefront.staff.admin_parts import Moves
from tests.server.admin_pages import PAGES
from tests.server.test_admin_rights import addresses, page_of, row_of
from tests.shops.factories import NOW
from tests.staff import open_desk

MONEY, PERSONAL_DATA, IDENTITY = "money", "personal data", "identity"
# What can move something, by the form or action behind a POST.
MOVED = {
    MONEY: {
        *("deployment_deployedshop_close_shop", "deployment_deployedshop_reopen_shop"),
        *("shops_shop_change", "documents_invoicesettings_change", "gift_cards_giftcard_add"),
        *(f"payments_provideraccount_{form}" for form in ("add", "change", "delete", "undo")),
        *(f"gift_cards_giftcard_{deed}" for deed in ("resend", "expiry", "disable", "enable")),
        *(f"orders_order_{deed}" for deed in ("mark_paid", "refund", "cancel", "write")),
        *(f"customers_customergroup_{form}" for form in ("add", "change", "delete")),
        "content_mailtext_change",
        *(f"pricing_discount_{form}" for form in ("add", "change", "delete")),
        *(f"pricing_discount_{deed}" for deed in ("generate", "download_codes", "import_codes")),
    },
    PERSONAL_DATA: {
        *(f"customers_customer_{deed}" for deed in ("add", "change", "delete", "export_csv", "personal_data")),
        *(f"privacy_datarequest_{deed}" for deed in ("add", "make_export", "download", "erase")),
        *(f"orders_order_{deed}" for deed in ("export_csv", "packing_slips_of_chosen", "invoices_of_chosen")),
        *("orders_order_print_waiting", "orders_order_print_papers"),
        "documents_document_pdf_of_chosen",
        *(f"webhooks_registration_{deed}" for deed in ("resume", "resume_chosen")),
        *(f"webhooks_delivery_{deed}" for deed in ("replay", "replay_chosen")),
        *(f"apps_allowedscripthost_{form}" for form in ("add", "delete")),
        *("apps_scripttag_change", "apps_scripttag_allow", "apps_blockedscript_allow", "apps_extension_change"),
    },
    IDENTITY: {
        *("deployment_deployedshop_add", "deployment_deployedshop_change"),
        *("shops_shop_ask_for_proof", "shops_shop_prove_sender"),
        *("shops_shop_close_doors", "customers_customer_send_password_reset"),
        *(f"shops_shopdomain_{form}" for form in ("add", "delete")),
        *(f"shops_staffmember_{deed}" for deed in ("add", "change", "delete", "end_sessions")),
        *(f"shops_staffinvitation_{deed}" for deed in ("add", "send_again", "withdraw")),
        *(f"shops_apitoken_{deed}" for deed in ("add", "change", "revoke", "revoke_chosen")),
        *(f"apps_app_{deed}" for deed in ("add", "change", "install", "rotate_secret")),
        *(f"apps_installation_{deed}" for deed in ("change", "rotate_token", "end_old_tokens", "rotate_secret")),
        "apps_installation_uninstall",
        *("password_change", "admin_password_reset", "password_reset_confirm", "invitation", "new_account", "enrol"),
        *(f"security_{deed}" for deed in ("add", "remove", "codes", "end")),
    },
}


def test_every_address_and_every_action_declares_what_it_can_move():
    pages = {f"{page.opts.app_label}_{page.opts.model_name}": page for page in admin.site._registry.values()}
    actions = [(f"{label}_changelist", name) for label, page in pages.items() for name in page.actions or ()]
    asked = [(name, "") for name, _ in addresses() if name] + actions
    for method in ("GET", "POST"):
        assert [each for each in asked if admin.site.moved_by(each[0], method, each[1]) is None] == []


@pytest.mark.parametrize("moves", MOVED)
def test_what_moves_something_is_named(moves):
    found = {name for name, _ in addresses() if name and admin.site.moved_by(name, "POST") == moves}
    for page in admin.site._registry.values():
        label = f"{page.opts.app_label}_{page.opts.model_name}"
        chosen = [
            name for name in page.actions or () if admin.site.moved_by(f"{label}_changelist", "POST", name) == moves
        ]
        found |= {f"{label}_{name}" for name in chosen}
    assert found == MOVED[moves]


def test_a_get_that_only_asks_moves_nothing():
    assert admin.site.moved_by("orders_order_refund", "GET") == Moves.NOTHING
    assert admin.site.moved_by("apps_installation_uninstall", "GET") == Moves.NOTHING
    assert admin.site.moved_by("customers_customer_change", "GET") == Moves.NOTHING
    assert admin.site.moved_by("customers_customer_export_csv", "GET") == Moves.PERSONAL_DATA
    assert admin.site.moved_by("privacy_datarequest_download", "GET") == Moves.PERSONAL_DATA
    assert admin.site.moved_by("nothing_here", "GET") is None


def test_deleting_chosen_rows_moves_what_deleting_one_does():
    chosen = {
        name: admin.site.moved_by(f"{name}_changelist", "POST", "delete_selected")
        for name in ("customers_customer", "catalogue_brand")
    }
    assert chosen == {"customers_customer": Moves.PERSONAL_DATA, "catalogue_brand": Moves.NOTHING}


# These are for people who are not signed in, and ask for a proof of their own.
ASK_OTHERWISE = {"admin_password_reset", "password_reset_confirm", "invitation", "new_account", "enrol"}
# Their form is the page on which the row is looked at, so only sending it asks.
LOOKED_AT = ("_change", "_changelist")
FORM = {"post": "yes", "_form_submitted": "on", "id": "1", "_save": "1"}


def sent(shop: Shop) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Method, URL and form of all requests that can move something."""
    rows = {page: row_of(page, shop) for page in PAGES}
    for name, pattern in addresses():
        if name and admin.site.moved_by(name, "POST") != Moves.NOTHING and name not in ASK_OTHERWISE:
            page = next((page for page in PAGES if name.startswith(f"{page}_")), "")
            url = reverse(f"admin:{name}", args=[rows[page].pk] if "object_id" in pattern else [])
            yield "post", url, FORM
            if not name.endswith(LOOKED_AT):
                yield "get", url, {}
    for page, row in rows.items():
        url, chosen = reverse(f"admin:{page}_changelist"), {"_selected_action": [row.pk], "post": "yes"}
        for action in ["delete_selected", *(page_of(page).actions or ())]:
            if admin.site.moved_by(f"{page}_changelist", "POST", action) != Moves.NOTHING:
                yield "post", url, chosen | {"action": action}
                # As the second of two lists of actions, and as one that is chosen over a harmless one.
                yield "post", url, chosen | {"action": [action, ""], "index": "0"}


def is_asked(desk: Any, method: str, url: str, form: dict[str, Any]) -> bool:
    answer = getattr(desk, method)(url, form)
    return answer.status_code == 302 and answer["Location"].startswith("/admin/confirm/?next=")


def everything() -> dict[str, list[Any]]:
    """All rows of all tables but of the sessions."""
    models = [model for model in apps.get_models() if model not in (Session, StaffSession)]
    return {model._meta.label: list(model._base_manager.order_by("pk").values()) for model in models}


@pytest.fixture
def clock() -> Iterator[Any]:
    with time_machine.travel(NOW, tick=False) as clock:
        yield clock


@pytest.mark.slow
def test_with_an_old_confirmation_nothing_moves(shop, clock):
    desk = open_desk(User.objects.create_superuser("operator", "op@example.com", "lighthouse-1"), shop)
    requests = list(sent(shop))
    clock.shift(timedelta(minutes=15, seconds=-1))
    for request in requests:
        with transaction.atomic():
            assert not is_asked(desk, *request), request
            transaction.set_rollback(True)
    clock.shift(timedelta(seconds=1))
    before = everything()
    assert len(requests) > 130
    for request in requests:
        assert is_asked(desk, *request), request
    assert everything() == before


@pytest.mark.slow
def test_with_an_old_confirmation_all_other_pages_open(shop, clock):
    desk = open_desk(User.objects.create_superuser("operator", "op@example.com", "lighthouse-1"), shop)
    clock.shift(timedelta(minutes=15))
    for page in PAGES:
        row = row_of(page, shop)
        for view in ("changelist", "change", "history"):
            url = reverse(f"admin:{page}_{view}", args=[] if view == "changelist" else [row.pk])
            assert not is_asked(desk, "get", url, {}), url
