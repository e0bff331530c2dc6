"""Uploaded files cannot run scripts on the shop's pages."""

import pytest


@pytest.fixture
def media(tmp_path, settings, client, db):
    settings.MEDIA_ROOT = tmp_path

    def ask(name: str, content: bytes = b"x"):
        (tmp_path / name).write_bytes(content)
        return client.get(f"/media/{name}")

    return ask


@pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.webp"])
def test_a_picture_is_shown(media, name):
    answer = media(name)
    assert answer.status_code == 200
    assert not answer.headers.get("Content-Disposition", "").startswith("attachment")
    assert answer["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("name", ["a.svg", "a.html", "a.xml", "a.js", "a"])
def test_other_files_are_downloads_that_cannot_run_scripts(media, name):
    answer = media(name, b"<svg onload='alert(1)'>")
    assert answer["Content-Disposition"] == "attachment"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in answer["Content-Security-Policy"]


@pytest.mark.parametrize("path", ["missing.png", "../secret-key", "%2e%2e/secret-key", ""])
def test_nothing_outside_the_folder_is_served(media, client, tmp_path, path):
    (tmp_path.parent / "secret-key").write_text("hidden-word")
    answer = client.get(f"/media/{path}")
    assert answer.status_code == 404
    assert b"hidden-word" not in answer.content


@pytest.mark.parametrize("path", ["a" * 300, "a.png/b", "a/" * 3000, "%ff%fe"])
def test_a_name_that_no_file_can_have_is_a_404(media, client, path):
    media("a.png")
    assert client.get(f"/media/{path}").status_code == 404


def test_a_folder_is_not_listed(media, client, tmp_path):
    (tmp_path / "orders").mkdir()
    assert client.get("/media/orders/").status_code == 404


def test_other_methods_are_refused(client, db):
    assert client.post("/media/a.png").status_code == 405
