"""`storefront customerdata` exports and erases a person without the admin."""

import json
from zipfile import ZipFile

import pytest
from django.core.management import call_command

from storefront.kit.refusals import InvalidFields
from storefront.privacy.models import DataRequest
from storefront.privacy.person import PersonNeeded
from storefront.server.command import Failed
from tests.audit.entries import entries
from tests.catalogue.factories import make_product
from tests.orders.factories import make_order, sale_line
from tests.privacy.lives import EMAIL, live, rows_of, traces

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def run(capsys, what, shop, **given) -> dict:
    capsys.readouterr()
    call_command("customerdata", what, shop=shop.domain, email=EMAIL, **given)
    return json.loads(capsys.readouterr().out)


def test_exports_to_a_file_that_others_cannot_read(shop, capsys, tmp_path):
    live(shop)
    counts = run(capsys, "export", shop, output=tmp_path / "ada.zip")
    assert (counts["orders"], counts["account"]) == (2, 1)
    assert (tmp_path / "ada.zip").stat().st_mode & 0o077 == 0
    with ZipFile(tmp_path / "ada.zip") as archive:
        assert len(json.loads(archive.read("orders.json"))) == 2
    assert entries(shop, action="data_request.downloaded")[0].actor_kind == "command"


def test_erases_at_once(shop, other_shop, capsys):
    live(shop)
    live(other_shop)
    before = rows_of(other_shop)
    assert run(capsys, "erase", shop)["orders"] == 2
    assert rows_of(other_shop) == before
    other_shop.delete()
    assert traces(without=(*("documents_document", "shops_auditentry"), "django_tasks_database_dbtaskresult")) == set()
    assert run(capsys, "erase", shop) == {}


def test_says_what_is_in_the_way(shop, capsys, tmp_path):
    make_order(shop, sale_line(make_product(shop, "Mug")), email=EMAIL)
    with pytest.raises(PersonNeeded, match="Order #1001 is not paid"):
        run(capsys, "erase", shop)
    assert DataRequest.objects.get().state == "open"
    with pytest.raises(InvalidFields):
        run(capsys, "export", shop)
    with pytest.raises(InvalidFields):
        run(capsys, "erase", shop, output=tmp_path / "ada.zip")
    with pytest.raises(Failed, match="cannot be written"):
        run(capsys, "export", shop, output=tmp_path / "none" / "ada.zip")
