"""`storefront pictures`, as scripts see it: stdout, stderr, exit code, and what a kill leaves."""

import json
import os
import signal
import subprocess
import sys
import threading

import pytest
from django.core.management import call_command

from storefront.pictures.models import PictureFetch
from tests.catalogue.factories import make_media, make_product
from tests.databases import database
from tests.pictures.hosts import asked_for, drawn, picture_host, requested
from tests.product_files.files import as_lines
from tests.server.programs import STOREFRONT, clean_environment, running, storefront, wait_until

EXPIRE = """
import os, django
os.environ["DJANGO_SETTINGS_MODULE"] = "storefront.server.settings"
django.setup()
from storefront.kit import clock
from storefront.pictures.models import PictureFetch
PictureFetch.objects.filter(state="waiting").update(due_at=clock.now())
"""

pytestmark = [pytest.mark.any_database, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def own_files(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path


def run(capsys, *arguments: str) -> tuple[dict, str, int]:
    """The last line of stdout, stderr, and the exit code."""
    code = 0
    try:
        call_command("pictures", "--shop", "shop.example.com", *arguments)
    except SystemExit as exit:
        code = int(exit.code or 0)
    out, err = capsys.readouterr()
    return json.loads(out.splitlines()[-1]), err, code


def test_fetches_what_waits_and_says_what_failed(shop, other_shop, capsys):
    with picture_host(cup=drawn(), mug=404, jug=500) as host:
        requested(shop, host.url("/cup"), host.url("/mug"), host.url("/jug"))
        requested(other_shop, host.url("/cup"))
        counts, err, code = run(capsys)
    assert (counts, code) == ({"fetched": 1, "waiting": 1, "failed": 1}, 1)
    assert f"{host.url('/mug')}: The host answered with status 404." in err
    assert PictureFetch.objects.get(shop=other_shop).state == "waiting"


def test_fetches_what_an_import_has_just_asked_for(shop, other_shop, capsys):
    """Several imports, before the worker has looked at any; also where all that is missing is asked for."""
    with picture_host(cup=drawn(), mug=drawn(colour="red")) as host:
        for options, count in (((), 2), (("--all",), 3)):
            asked_for(shop, host.url("/cup"))
            asked_for(shop, host.url("/mug"))
            asked_for(other_shop, host.url("/cup"))
            if options:
                make_media(make_product(shop), host.url("/cup"))
            assert run(capsys, *options)[::2] == ({"fetched": count, "waiting": 0, "failed": 0}, 0)
    assert not PictureFetch.objects.filter(shop=other_shop).exists()


def test_failed_ones_are_fetched_again_only_when_asked(shop, other_shop, capsys):
    with picture_host(cup=404) as host:
        requested(shop, host.url("/cup"))
        assert run(capsys)[2] == 1
        host.answers["/cup"] = drawn()
        assert run(capsys)[0] == {"fetched": 0, "waiting": 0, "failed": 1}
        assert run(capsys, "--retry-failed")[::2] == ({"fetched": 1, "waiting": 0, "failed": 0}, 0)


def test_all_fetches_addresses_that_were_left(shop, other_shop, capsys):
    with picture_host(cup=drawn()) as host:
        old = make_media(make_product(shop), host.url("/cup"))
        assert run(capsys)[0]["fetched"] == 0
        assert run(capsys, "--all")[::2] == ({"fetched": 1, "waiting": 0, "failed": 0}, 0)
    old.refresh_from_db()
    assert old.file


@pytest.mark.proof
def test_a_killed_run_is_continued(migrated, tmp_path):
    """Imported by the command, fetched by another that is killed in the middle, and by a third: all pictures are there,
    and none of those that had been stored was fetched again."""
    with database(tmp_path, copied_from=migrated) as variables:
        environment = {name: value for name, value in variables.items() if name != "PATH"}
        environment |= {"STOREFRONT_ALLOW_PRIVATE_CALLBACKS": "1"}
        storefront("createshop", "--domain", "s.example.com", "--name", "S", "--base-url", "https://s", **environment)
        seen = threading.Event()
        with picture_host(**{str(number): drawn() for number in range(60)}) as host:
            serve = host.answer

            async def counting(request):
                if host.calls.total() >= 20:
                    seen.set()
                return await serve(request)

            host.receiver.answering = counting
            media = [host.url(f"/{number}") for number in range(60)]
            (tmp_path / "file").write_text(as_lines({"name": "Cup", "price": "1", "media": media}))
            done = storefront("importproducts", "--shop", "s.example.com", str(tmp_path / "file"), **environment)
            assert done.returncode == 0, done.stderr
            killed = subprocess.Popen(
                [STOREFRONT, "pictures", "--shop", "s.example.com"],
                env=clean_environment(**environment),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            assert seen.wait(30)
            os.kill(killed.pid, signal.SIGKILL)
            killed.wait()
            before = host.calls.total()
            # As if the leases of the killed run had expired.
            subprocess.run([sys.executable, "-c", EXPIRE], env=clean_environment(**environment), check=True)
            again = storefront("pictures", "--shop", "s.example.com", **environment)
            counts = json.loads(again.stdout)
    assert (again.returncode, counts["waiting"], counts["failed"]) == (0, 0, 0), again.stderr
    assert 0 < counts["fetched"] <= 60 - before + 16
    assert host.calls.total() <= 60 + 16


@pytest.mark.proof
def test_a_worker_fetches_what_an_import_requested(migrated, tmp_path):
    with database(tmp_path, copied_from=migrated) as variables:
        environment = {name: value for name, value in variables.items() if name != "PATH"}
        environment |= {"STOREFRONT_ALLOW_PRIVATE_CALLBACKS": "1"}
        storefront("createshop", "--domain", "s.example.com", "--name", "S", "--base-url", "https://s", **environment)
        with picture_host(cup=drawn()) as host:
            with running("worker", log=tmp_path / "log", **environment) as worker:
                (tmp_path / "file").write_text(as_lines({"name": "Cup", "price": "1", "media": [host.url("/cup")]}))
                storefront("importproducts", "--shop", "s.example.com", str(tmp_path / "file"), **environment)
                wait_until(lambda: host.calls["/cup"], what="a call", process=worker)
                worker.terminate()
                worker.wait(20)
            left = storefront("pictures", "--shop", "s.example.com", **environment)
    assert json.loads(left.stdout) == {"fetched": 0, "waiting": 0, "failed": 0}, (tmp_path / "log").read_text()
    assert host.calls["/cup"] == 1


def test_nothing_to_do(shop, capsys):
    assert run(capsys)[::2] == ({"fetched": 0, "waiting": 0, "failed": 0}, 0)
