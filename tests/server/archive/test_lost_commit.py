"""A connection that is lost during the COMMIT of `importshop`: no file that a row refers to is deleted, and none stays
that no row refers to."""

import pytest
from django.core.files.storage import default_storage
from django.db import DatabaseError, connection

from storefront.catalogue.models import Media, SearchWord
from storefront.kit.dialect import IS_POSTGRESQL
from storefront.kit.direct import direct_copy
from storefront.server.archive import ending
from storefront.server.command import Failed
from storefront.shops.models import Shop
from tests.server.archive.shops import fill
from tests.server.archive.test_copies import COPY, export, run
from tests.server.relays import Relay, relay

pytestmark = [
    pytest.mark.skipif(not IS_POSTGRESQL, reason="SQLite has no connection that can be lost"),
    pytest.mark.django_db(transaction=True),
]


@pytest.fixture
def archive(shop, storages):
    fill(shop)
    return export(shop, storages / "shop.zip")


@pytest.fixture
def lossy():
    """Puts a relay before the database, which ends the connection before or after the COMMIT of the import, and calls
    `then` first."""
    before, direct = connection.settings_dict, direct_copy(connection).settings_dict
    state = {"at": "", "is_import": False, "then": lambda: None}

    def cut(chunk: bytes) -> str:
        state["is_import"] |= b"pg_current_xact_id" in chunk
        if not (state["is_import"] and b"COMMIT" in chunk):
            return ""
        state["is_import"] = False
        state["then"]()
        return state["at"]

    with relay(before["HOST"], int(before["PORT"] or 5432), cut=cut) as between:

        def start(at: str, then=lambda _relay: None) -> Relay:
            state.update(at=at, then=lambda: then(between))
            connection.close()
            connection.settings_dict = {**direct, "HOST": "127.0.0.1", "PORT": between.port}
            return between

        yield start
        connection.close()
        connection.settings_dict = before


def files(storages) -> set[str]:
    return {str(path) for path in storages.rglob("*") if path.is_file() and path.suffix != ".zip"}


def test_a_copy_that_is_there_keeps_its_files(archive, storages, lossy):
    lossy("after")
    made, said = run("importshop", archive, *COPY)
    copy = Shop.objects.get(domain="copy.example.com")
    assert (made["id"], made["files"]) == (copy.pk, 3)
    assert "The copy is closed" in said
    (media,) = Media.objects.filter(shop=copy).exclude(file="")
    assert default_storage.exists(media.file.name)
    assert SearchWord.objects.filter(shop=copy).exists(), "written after the commit"


def test_a_copy_that_is_not_there_leaves_no_files(archive, storages, lossy):
    before = files(storages)
    lossy("before")
    with pytest.raises(DatabaseError):
        run("importshop", archive, *COPY)
    assert not Shop.objects.filter(domain="copy.example.com").exists()
    assert files(storages) == before


@pytest.mark.parametrize("at", ["before", "after"])
def test_files_are_kept_if_the_outcome_stays_unknown(archive, storages, lossy, monkeypatch, at):
    monkeypatch.setattr(ending, "MAX_UNKNOWN_SECONDS", 0)
    before = files(storages)
    # Nothing listens any more, so no second connection can be made.
    lossy(at, lambda between: between.listener.close())
    with pytest.raises(Failed, match=r"it is not known whether the copy is there. The 3 files .* are kept"):
        run("importshop", archive, *COPY)
    assert len(files(storages)) == len(before) + 3
