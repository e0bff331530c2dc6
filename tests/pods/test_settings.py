"""STOREFRONT_POD: what cannot be a pod's number is refused in a sentence."""

import pytest

from storefront.server import environment

POSTGRESQL, SQLITE = {"ENGINE": "storefront.server.postgresql"}, {"ENGINE": "storefront.server.sqlite3"}


def test_is_0_unless_set(monkeypatch):
    monkeypatch.delenv("STOREFRONT_POD", raising=False)
    assert environment.pod(SQLITE) == environment.pod(POSTGRESQL) == 0


def test_takes_numbers_up_to_the_last(monkeypatch):
    monkeypatch.setenv("STOREFRONT_POD", "8190")
    assert environment.pod(POSTGRESQL) == 8190


@pytest.mark.parametrize("given", ["8191", "-1", "one", "1.5"])
def test_refuses_others(monkeypatch, capsys, given):
    monkeypatch.setenv("STOREFRONT_POD", given)
    with pytest.raises(SystemExit):
        environment.pod(POSTGRESQL)
    assert "STOREFRONT_POD" in capsys.readouterr().err


def test_sqlite_has_no_pods(monkeypatch, capsys):
    monkeypatch.setenv("STOREFRONT_POD", "1")
    with pytest.raises(SystemExit):
        environment.pod(SQLITE)
    assert "SQLite has no pods" in capsys.readouterr().err
