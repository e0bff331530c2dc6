"""What is kept between two runs: anew when it would be made differently, and gone when it is dropped."""

from contextlib import closing

import psycopg
import pytest

from benchmarks import postgres, prepared


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """A checkout with a file of each kind that decides what stands in a filled database."""
    monkeypatch.setattr(prepared, "ROOT", tmp_path)
    for pattern in prepared.MAKERS:
        path = tmp_path / pattern.replace("*", "x")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("before")
    return tmp_path


@pytest.mark.parametrize("pattern", prepared.MAKERS)
def test_it_is_made_anew_when_what_makes_it_changed(sources, pattern):
    state = sources / "state.json"
    state.write_text(f'{{"fingerprint": "{prepared.fingerprint()}"}}')
    assert prepared.stands(state)
    (sources / pattern.replace("*", "x")).write_text("after")
    assert not prepared.stands(state)


@pytest.mark.parametrize("pattern", prepared.MAKERS)
def test_what_makes_it_exists(pattern):
    assert list(prepared.ROOT.glob(pattern))


def test_half_a_state_does_not_stand(tmp_path):
    (tmp_path / "state.json").write_text('{"finger')
    assert not prepared.stands(tmp_path / "state.json")
    assert not prepared.stands(tmp_path / "none.json")


def test_dropping_takes_the_folder_and_its_databases_and_nobody_else_s(tmp_path, monkeypatch):
    server = postgres.answering_server()
    if not server:
        pytest.skip("no PostgreSQL answers")
    folder, other = tmp_path / "bench", tmp_path / "other"
    folder.mkdir()
    monkeypatch.setattr(prepared, "FOLDER", folder)
    # Without a folder of its own, as a run leaves it that was killed.
    left, foreign = postgres.database_name(folder, 7), postgres.database_name(other, 7)
    try:
        for name in (left, foreign):
            postgres.make(server, name)
        prepared.drop(server)
        assert not folder.exists()
        with closing(psycopg.connect(server)) as connection:
            names = {name for (name,) in connection.execute("SELECT datname FROM pg_database")}
        assert foreign in names
        assert left not in names
    finally:
        for name in (left, foreign):
            postgres.drop(server, name)
