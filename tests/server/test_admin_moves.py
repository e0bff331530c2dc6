"""Every address of the admin declares what a request to it can move; what moves nothing is the exception."""

import pytest
from django.contrib import admin

from storefront.staff.admin_parts import Moves
from tests.server.test_admin_rights import addresses

MONEY, PERSONAL_DATA, IDENTITY = "money", "personal data", "identity"
# What can move something, by the form or action behind a POST.
MOVED = {
    MONEY: {
        *("shops_shop_change", "documents_invoicesettings_change", "gift_cards_giftcard_add"),
        *(f"payments_provideraccount_{form}" for form in ("add", "change", "delete")),
        *(f"gift_cards_giftcard_{deed}" for deed in ("resend", "expiry", "disable", "enable")),
        *(f"orders_order_{deed}" for deed in ("mark_paid", "refund", "cancel")),
    },
    PERSONAL_DATA: {
        *(f"customers_customer_{deed}" for deed in ("add", "change", "delete", "export_csv", "personal_data")),
        *(f"privacy_datarequest_{deed}" for deed in ("add", "make_export", "download", "erase")),
        *(f"orders_order_{deed}" for deed in ("export_csv", "packing_slips_of_chosen", "invoices_of_chosen")),
        "documents_document_pdf_of_chosen",
        *(f"webhooks_registration_{deed}" for deed in ("resume", "resume_chosen")),
        *(f"webhooks_delivery_{deed}" for deed in ("replay", "replay_chosen")),
        *(f"apps_allowedscripthost_{form}" for form in ("add", "delete")),
        *("apps_scripttag_change", "apps_scripttag_allow", "apps_blockedscript_allow"),
    },
    IDENTITY: {
        *("shops_shop_ask_for_proof", "shops_shop_prove_sender"),
        *("shops_shop_close_doors", "customers_customer_send_password_reset"),
        *(f"shops_shopdomain_{form}" for form in ("add", "delete")),
        *(f"shops_staffmember_{deed}" for deed in ("add", "change", "delete", "end_sessions")),
        *(f"shops_staffinvitation_{deed}" for deed in ("add", "send_again", "withdraw")),
        *(f"shops_apitoken_{deed}" for deed in ("add", "change", "revoke", "revoke_chosen")),
        *(f"apps_app_{deed}" for deed in ("add", "change", "install", "rotate_secret")),
        *(f"apps_installation_{deed}" for deed in ("change", "rotate_token", "end_old_tokens", "rotate_secret")),
        "apps_installation_uninstall",
        *("password_change", "admin_password_reset", "password_reset_confirm", "invitation", "enrol"),
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
