"""A map is replaced in one step, tested and loaded by the proxy's own commands, and tried again until that worked."""

import fcntl
import sys

import pytest

from storefront.pods.publishing import NotPublished, publish


@pytest.fixture
def path(tmp_path):
    return tmp_path / "pods.map"


def writes(path, word: str) -> str:
    """A command that appends a word to a file."""
    return f"{sys.executable} -c \"open('{path}', 'a').write('{word} ')\""


def test_loads_a_map_once(path, tmp_path):
    calls = tmp_path / "calls"
    commands = {"test": writes(calls, "test"), "reload": writes(calls, "reload")}
    assert publish("one", path, **commands)
    assert not publish("one", path, **commands)
    assert publish("two", path, **commands)
    assert path.read_text() == "two"
    assert calls.read_text() == "test reload test reload "


def test_a_refused_map_leaves_the_one_before(path):
    publish("one", path)
    with pytest.raises(NotPublished, match="failed with 1"):
        publish("two", path, test="false", reload="true")
    assert path.read_text() == "one"


def test_a_refused_first_map_is_gone(path):
    with pytest.raises(NotPublished):
        publish("one", path, test="false")
    assert not path.exists()


def test_a_map_that_was_not_loaded_is_tried_again(path, tmp_path):
    publish("one", path)
    with pytest.raises(NotPublished):
        publish("two", path, reload="false")
    assert publish("two", path, reload="true")


def test_a_kill_between_writing_and_loading_is_made_up_for(path, tmp_path):
    publish("one", path)
    path.write_text("two")
    calls = tmp_path / "calls"
    assert publish("two", path, reload=writes(calls, "reload"))
    assert calls.read_text() == "reload "


def test_two_at_once_do_not_mix(path):
    publish("one", path)
    with path.with_name("pods.map.loaded").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(NotPublished, match="Another"):
            publish("two", path)
    assert path.read_text() == "one"


@pytest.mark.parametrize("command", ["no-such-program", "'"])
def test_a_command_that_cannot_run_is_a_sentence(path, command):
    with pytest.raises(NotPublished, match="could not be run"):
        publish("one", path, test=command)


def test_a_folder_that_is_not_there_is_a_sentence(tmp_path):
    with pytest.raises(NotPublished, match="cannot be written"):
        publish("one", tmp_path / "none" / "pods.map")


def test_the_proxy_can_read_it(path):
    publish("one", path)
    assert path.stat().st_mode & 0o777 == 0o644
