"""Databases kept between runs: they are created again when their sources change, and removed by `drop`."""

from contextlib import closing

import psycopg
import pytest

from benchmarks import postgres, prepared


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """A checkout with a file of each kind that determines a filled database."""
    monkeypatch.setattr(prepared, "ROOT", tmp_path)
    for pattern in prepared.MAKERS:
        path = tmp_path / pattern.replace("*", "x")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("before")
    return tmp_path


@pytest.mark.parametrize("pattern", prepared.MAKERS)
def test_a_database_is_outdated_when_one_of_its_sources_changes(sources, pattern):
    state = sources / "state.json"
    state.write_text(f'{{"fingerprint": "{prepared.fingerprint()}"}}')
    assert prepared.is_current(state)
    (sources / pattern.replace("*", "x")).write_text("after")
    assert not prepared.is_current(state)


@pytest.mark.parametrize("pattern", prepared.MAKERS)
def test_every_source_exists(pattern):
    assert list(prepared.ROOT.glob(pattern))


def test_an_incomplete_or_missing_state_is_not_current(tmp_path):
    (tmp_path / "state.json").write_text('{"finger')
    assert not prepared.is_current(tmp_path / "state.json")
    assert not prepared.is_current(tmp_path / "none.json")


@pytest.mark.slow
def test_drop_removes_the_folder_and_only_its_own_databases(tmp_path, monkeypatch):
    server = postgres.answering_server()
    if not server:
        pytest.skip("no PostgreSQL answers")
    folder, other = tmp_path / "bench", tmp_path / "other"
    folder.mkdir()
    monkeypatch.setattr(prepared, "FOLDER", folder)
    # Without a folder, as a killed run would leave it.
    left, foreign = postgres.database_name(folder, 7), postgres.database_name(other, 7)
    try:
        for name in (left, foreign):
            postgres.create(server, name)
        prepared.drop(server)
        assert not folder.exists()
        with closing(psycopg.connect(server)) as connection:
            names = {name for (name,) in connection.execute("SELECT datname FROM pg_database")}
        assert foreign in names
        assert left not in names
    finally:
        for name in (left, foreign):
            postgres.drop(server, name)
