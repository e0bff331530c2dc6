"""Every address of the admin, asked by every role, by another shop's owner, by the operator and by nobody.

The letters say who may: o the owner, m a manager, f fulfilment, r read-only. The operator may whatever anybody may.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.messages import get_messages
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, reverse

from storefront.deployment.models import DeployedShop
from storefront.installations.models import App
from storefront.shops.models import Shop, StaffMember, User
from storefront.shops.rights import TABLE, Right, rights_of
from tests.factories.apps import install
from tests.server.admin_pages import PAGES
from tests.server.admin_rows import ROWS
from tests.staff import Desk, make_staff, open_desk

pytestmark = [pytest.mark.any_database, pytest.mark.proof]

ROLES = {"o": "owner", "m": "manager", "f": "fulfilment", "r": "read_only"}

# Every other address: what a GET and a POST answer, to whoever is signed in and to nobody.
OTHERS: dict[str, tuple[tuple[int, int], tuple[int, int]]] = {
    "index": ((200, 200), (302, 302)),
    "settings": ((200, 200), (302, 302)),
    "login": ((302, 200), (200, 200)),
    "password_change": ((200, 200), (302, 302)),
    "password_change_done": ((200, 405), (302, 302)),
    "jsi18n": ((200, 405), (302, 302)),
    "search": ((200, 200), (302, 302)),
    "choose_shop": ((200, 405), (302, 302)),
    "switch_shop": ((405, 404), (302, 302)),
    # Its content is tested in test_choices_are_offered_to_those_who_see_the_rows.
    "autocomplete": ((403, 405), (302, 302)),
    "invitation_link": ((403, 405), (403, 405)),
    "invitation": ((403, 403), (403, 403)),
    "new_account_link": ((403, 405), (403, 405)),
    "new_account": ((403, 403), (403, 403)),
    "admin_password_reset": ((200, 422), (200, 422)),
    "password_reset_done": ((200, 405), (200, 405)),
    "password_reset_link": ((403, 405), (403, 405)),
    "password_reset_confirm": ((200, 200), (200, 200)),
    # Asked again, and set up anew, by whoever is signed in with all that can be asked for.
    "second_step": ((302, 302), (302, 302)),
    "enrol": ((302, 302), (302, 302)),
    "confirm": ((200, 200), (302, 302)),
    "security": ((200, 200), (302, 302)),
    "security_add": ((200, 200), (302, 302)),
    "security_remove": ((405, 404), (302, 302)),
    "security_codes": ((405, 404), (302, 302)),
    "security_end": ((405, 404), (302, 302)),
    "security_language": ((405, 302), (302, 302)),
    "logout": ((405, 200), (302, 302)),
    "invitation_sign_out": ((405, 303), (405, 303)),
}
# Deeds after which a POST leads to another page, and addresses that lead there whatever the method.
LEAVING = {
    "add_usual",
    "print_waiting",
    "allow",
    "cancel",
    "confirm",
    "decline",
    "undo_import",
    "check_connection",
    "ask_for_proof",
    "check_domain",
    "check_sender",
    "close",
    "close_shop",
    "delete",
    "enter",
    "reopen_shop",
    "remove_view",
    "end_old_tokens",
    "end_sessions",
    "fulfil",
    "hide_steps",
    "install",
    "issue_invoice",
    "make_export",
    "mark_paid",
    "open_doors",
    "personal_data",
} | {
    *(
        "replay",
        "retry_pictures",
        "restore",
        "resume",
        "revoke",
        "send_again",
        "send_password_reset",
        "send_sample",
        "send_test",
        "undo",
        "uninstall",
        "use_standard",
        "withdraw",
        *("disable", "enable", "expiry", "load_eu_rates"),
    )
}
# Pages that only the operator knows of: a 404 to others.
OPERATORS = ("deployment_deployedshop",)
ELSEWHERE = {
    # Of an import whose columns are mapped already.
    "catalogue_productimport_map_columns",
    "shops_staffmember_add",
    "content_missingpath_redirect",
    "shops_shop_changelist",
    "shops_shop_prove_sender",
    "documents_invoicesettings_changelist",
    "pricing_taxsettings_changelist",
    "content_looks_changelist",
}
# Forms that have no required field, so that the empty one is saved; others are shown again with their errors.
SAVED_EMPTY = {f"apps_{name}_change" for name in ("extension", "scripttag", "installation")}
SAVED_EMPTY.add("payments_provideraccount_change")  # Of a provider without settings.
SAVED_EMPTY.add("orders_order_change")  # Note and tags.
SAVED_EMPTY.add("deployment_deployedshop_change")  # The deployment's quotas.
# Values of a row in a list, which say in their status that they were not saved.
REFUSED_EMPTY = {"catalogue_product_row_price", "catalogue_product_row_stock"}
# Actions on chosen rows have no URL of their own.
CHOSEN = {name for page in admin.site._registry.values() for name in page.actions or ()}
STANDARD = {
    "changelist": ("view", "view"),
    "history": ("view", "view"),
    "change": ("view", "change"),
    "upload": ("change", "change"),
    "upload_picture": ("change", "change"),
    "row_price": ("change", "change"),
    "row_stock": ("adjust", "adjust"),
    "frame": ("view", "view"),
    "guests": ("view", "view"),
    "versions": ("view", "change"),
    "themes": ("change", "change"),
    "prove_sender": ("change", "change"),
}


def addresses() -> Iterator[tuple[str | None, str]]:
    """The name and the pattern of every address of the admin."""

    def walk(patterns: list[Any], prefix: str) -> Iterator[tuple[str | None, str]]:
        for each in patterns:
            if isinstance(each, URLResolver):
                yield from walk(each.url_patterns, prefix + str(each.pattern))
            elif isinstance(each, URLPattern):
                yield each.name, prefix + str(each.pattern)

    yield from walk(admin.site.get_urls(), "")


def deeds_of(page: str) -> dict[str, tuple[str, str, bool]]:
    """By the name of each of the page's addresses: the deeds behind GET and POST, and whether it names a row."""
    found = {}
    for name, pattern in addresses():
        if name and name.startswith(f"{page}_"):
            suffix = name.removeprefix(f"{page}_")
            found[name] = (*STANDARD.get(suffix, (suffix, suffix)), "object_id" in pattern)
    return found


def page_of(page: str) -> Any:
    label = ".".join(page.rsplit("_", 1))
    return next(each for each in admin.site._registry.values() if each.opts.label_lower == label)


def row_of(page: str, shop: Shop) -> Any:
    model = page_of(page).model
    if model is DeployedShop:
        return DeployedShop.objects.get(pk=shop.pk)
    return install(shop).installation.app if model is App else ROWS[model](shop)


def test_every_address_is_asked_here():
    of_pages = {name for page in PAGES for name in deeds_of(page)}
    named = {name for name, _ in addresses() if name}
    assert named == of_pages | set(OTHERS) | {"app_list"}
    unnamed = {pattern.rpartition("/")[2] or pattern.rsplit("/", 2)[1] for name, pattern in addresses() if not name}
    # The old address of a row, which leads to the new one, and whatever else one may type.
    assert unnamed == {"<path:object_id>", "(?P<url>.*)$"}


def test_every_deed_of_a_page_names_its_right():
    """Also actions on chosen rows, and nothing that a page does not have."""
    assert {model._meta.label_lower.replace(".", "_") for model in admin.site._registry} == set(PAGES)
    for page, deeds in PAGES.items():
        site_page = page_of(page)
        assert set(site_page.rights) == set(deeds), page
        for deed, right in site_page.rights.items():
            whose = {letter for letter, role in ROLES.items() if right in rights_of(role)}
            assert whose == set(deeds[deed]), (page, deed)
        actions = {*(site_page.actions or ()), *site_page._extract_action_names(site_page.actions_detail)}
        actions |= {*site_page._extract_action_names(site_page.actions_list)}
        assert actions == set(deeds) - {"view", "add", "change", "delete"}, page


def test_nobody_writes_in_a_table_within_a_page_that_they_may_not_change():
    def inlines(page: Any) -> Iterator[Any]:
        for each in page.inlines:
            yield each
            yield from inlines(each) if hasattr(each, "inlines") else ()

    for page in admin.site._registry.values():
        for inline in inlines(page):
            assert "view" in inline.rights, inline
            writers = {TABLE[inline.rights[deed]][1] for deed in ("add", "change", "delete") if deed in inline.rights}
            assert not writers or writers == {TABLE[page.rights["change"]][1]}, inline


@pytest.mark.parametrize("page", PAGES)
def test_each_role_may_what_the_table_says(shop, other_shop, page):
    callers = {letter: open_desk(make_staff(shop, role, role)) for letter, role in ROLES.items()}
    callers["operator"] = open_desk(User.objects.create_superuser("operator", "op@example.com"), shop)
    row, foreign = row_of(page, shop), open_desk(make_staff(other_shop, "foreign"))
    for name, (reads, writes, names_row) in deeds_of(page).items():
        url = reverse(f"admin:{name}", args=[row.pk] if names_row else [])
        _ask_as_nobody(url)
        for method, deed in (("get", reads), ("post", writes)):
            # What belongs to no shop is another shop's owner's as much as this one's.
            if names_row and page not in (*OPERATORS, "apps_app"):
                # What nobody may do is refused before the row is looked up.
                assert _ask(foreign, url, method)[0] == (404 if may(page, deed, "o") else 403), (method, url)
            for letter, caller in callers.items():
                refused = 404 if page in OPERATORS and letter != "operator" else 403
                expected = _done(page, name, method, letter) if may(page, deed, letter) else refused
                assert _ask(caller, url, method)[0] == expected, (letter, method, url)


def may(page: str, deed: str, letter: str) -> bool:
    whose = PAGES[page].get(deed)
    return whose is not None and (letter == "operator" or letter in whose)


def _done(page: str, name: str, method: str, letter: str) -> int:
    """The status of a page for somebody who may open it, or of its form sent without values."""
    # The operator's form has the rate limit, which is required.
    is_saved = name in SAVED_EMPTY and (name, letter) != ("apps_installation_change", "operator")
    if method == "post" and name in REFUSED_EMPTY:
        return 422
    is_left = method == "post" and (is_saved or name.removeprefix(f"{page}_") in LEAVING)
    return 302 if name in ELSEWHERE or is_left else 200


def _ask(desk: Client, url: str, method: str = "get") -> tuple[int, Any]:
    """The response. Changes are rolled back."""
    with transaction.atomic():
        answer = desk.get(url) if method == "get" else desk.post(url, {"_form_submitted": "on", "post": "yes"})
        transaction.set_rollback(True)
    return answer.status_code, answer


def _ask_as_nobody(url: str) -> None:
    for method in ("get", "post"):
        status, answer = _ask(Client(), url, method)
        assert (status, answer["Location"].partition("?")[0]) == (302, "/admin/login/"), url


@pytest.mark.parametrize("page", [page for page, deeds in PAGES.items() if CHOSEN & set(deeds) or "delete" in deeds])
def test_actions_on_chosen_rows_are_for_those_who_may(shop, page):
    row, url = row_of(page, shop), reverse(f"admin:{page}_changelist")
    deeds = {deed: whose for deed, whose in PAGES[page].items() if deed in CHOSEN}
    if page_of(page).actions is not None and "delete" in PAGES[page]:
        deeds["delete_selected"] = PAGES[page]["delete"]
    for letter, role in ROLES.items():
        desk = open_desk(make_staff(shop, role, role))
        for deed, whose in deeds.items():
            with transaction.atomic():
                answer = desk.post(url, {"action": deed, "_selected_action": [row.pk]})
                transaction.set_rollback(True)
            told = [str(message) for message in get_messages(answer.wsgi_request)]
            shown = set(getattr(answer, "context_data", None) or {})
            asks_again = bool({"deletable_objects", "printable", "bulk"} & shown)
            is_done = (
                asks_again
                or answer["Content-Type"] == "application/pdf"
                or (answer.status_code == 302 and "No action selected." not in told)
            )
            assert is_done == (letter in whose), (letter, deed)


@pytest.mark.parametrize("name", OTHERS)
def test_other_addresses(shop, name):
    args = ["MQ"] if name == "password_reset_confirm" else []
    url, (signed_in, nobody) = reverse(f"admin:{name}", args=args), OTHERS[name]
    for role in ROLES.values():
        user = make_staff(shop, role, role)
        for method, status in zip(("get", "post"), signed_in, strict=True):
            assert _ask(open_desk(user), url, method)[0] == status
    for method, status in zip(("get", "post"), nobody, strict=True):
        assert _ask(Client(), url, method)[0] == status


@pytest.mark.parametrize("label", ["shops", "webhooks", "apps", "catalogue", "customers", "pricing", "carts", "orders"])
def test_the_page_of_a_room_lists_what_one_may_open(shop, label):
    url = reverse("admin:app_list", args=[label])
    _ask_as_nobody(url)
    for letter, role in ROLES.items():
        desk = open_desk(make_staff(shop, role, role))
        mine = {page for page, deeds in PAGES.items() if page.startswith(f"{label}_") and letter in deeds["view"]}
        status, answer = _ask(desk, url)
        assert status == (200 if mine else 404)
        text = answer.content.decode()
        linked = {page for page in PAGES if reverse(f"admin:{page}_changelist") in text}
        assert mine <= linked or status == 404
        assert all(letter in PAGES[page]["view"] for page in linked), letter


def test_whatever_else_one_types_is_not_there(shop):
    desk = open_desk(make_staff(shop))
    assert desk.get("/admin/nothing/here/").status_code == 404
    assert desk.get("/admin/r/6/1/").status_code == 404
    assert Client().get("/admin/r/6/1/").status_code == 302
    row = ROWS[StaffMember](shop)
    assert desk.get(f"/admin/shops/staffmember/{row.pk}/").status_code == 302


CHOICES = [
    (model._meta.app_label, model._meta.model_name, name, model._meta.get_field(name).related_model)
    for page in admin.site._registry.values()
    for owner in [page, *page.inlines]
    for model in [owner.model]
    for name in owner.autocomplete_fields
]


@pytest.mark.parametrize(("label", "model", "field", "target"), CHOICES)
def test_choices_are_offered_to_those_who_see_the_rows(shop, label, model, field, target):
    ROWS[target](shop)
    whose = PAGES[target._meta.label_lower.replace(".", "_")]["view"]
    asked = {"app_label": label, "model_name": model, "field_name": field, "term": ""}
    for letter, role in ROLES.items():
        answer = open_desk(make_staff(shop, role, role)).get(reverse("admin:autocomplete"), asked)
        assert answer.status_code == (200 if letter in whose else 403)


def test_the_start_page_shows_each_role_what_it_may_see(shop):
    order, product = ROWS_BY_NAME["order"](shop), ROWS_BY_NAME["product"](shop)
    type(product).objects.update(track_inventory=True, stock_qty=0, low_stock_threshold=5, status="active")
    for letter, role in ROLES.items():
        page = open_desk(make_staff(shop, role, role)).get("/admin/").content.decode()
        assert ("Average order" in page) == (letter in "omr")
        assert str(order) in page
        assert product.name in page


ROWS_BY_NAME = {model._meta.model_name: make for model, make in ROWS.items()}


def test_the_documented_table_is_the_one_in_the_code():
    lines = Path("docs/staff.md").read_text().splitlines()
    documented = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    expected = [
        [words, *("yes" if role in whose else "" for role in StaffMember.Role)]
        for words, whose in TABLE.values()
        if whose
    ]
    assert documented[1:] == expected


def test_the_operator_alone_does_what_is_left():
    assert [right for right, (_, whose) in TABLE.items() if not whose] == [Right.OPERATE]
    assert set(TABLE) == set(Right)


def test_removals_and_role_changes_apply_immediately(shop):
    desk: Desk = open_desk(make_staff(shop, "mia", "manager"))
    make_staff(shop)
    url = reverse("admin:customers_customer_changelist")
    assert desk.get(url).status_code == 200
    StaffMember.objects.filter(user__username="mia").update(role="fulfilment")
    assert desk.get(url).status_code == 403
    StaffMember.objects.filter(user__username="mia").delete()
    assert desk.get(url).status_code == 403
