import pytest

from storefront.pictures import rules


@pytest.fixture(autouse=True)
def own_files(settings, tmp_path) -> None:
    settings.MEDIA_ROOT = tmp_path


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch) -> None:
    monkeypatch.setattr(rules, "PAUSE_SECONDS", 0)
