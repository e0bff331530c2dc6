"""The alerts and the dashboard are well-formed. `tests/server/test_metrics.py` compares them with what is published."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.deploy.monitoring import MONITORING, expressions, panels, rules

pytestmark = pytest.mark.any_database

PROMTOOL = shutil.which("promtool", path=f"{os.environ['PATH']}:/usr/local/bin")
PAGE = (Path(__file__).parents[2] / "docs/operations.md").read_text()


@pytest.mark.skipif(not PROMTOOL, reason="promtool is not installed (on Debian: apt-get install prometheus)")
def test_prometheus_accepts_the_files():
    command = [PROMTOOL, "check", "config", "prometheus.yml"]
    done = subprocess.run(command, cwd=MONITORING, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(not PROMTOOL, reason="promtool is not installed (on Debian: apt-get install prometheus)")
def test_alerts_fire_and_do_not():
    command = [PROMTOOL, "test", "rules", Path(__file__).with_name("alerts_test.yml")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_alert_is_explained():
    for rule in rules():
        assert rule["annotations"]["see"] == "docs/operations.md#alerts"
        assert f"| `{rule['alert']}` |" in PAGE.partition("### Alerts")[2]
        assert rule["annotations"]["summary"]
        assert rule["labels"]["severity"] in ("critical", "warning", "info")


def test_panels_have_ids_of_their_own_and_a_source():
    ids = [panel["id"] for panel in panels()]
    assert len(ids) == len(set(ids))
    shown = [panel for panel in panels() if panel["type"] != "row"]
    assert {panel["datasource"]["uid"] for panel in shown} == {"${source}"}
    places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels()}
    assert len(places) == len(ids)


def test_brackets_of_expressions_match():
    for place, expression in expressions():
        for opening, closing in ("()", "[]", "{}"):
            assert expression.count(opening) == expression.count(closing), place
        assert re.search("storefront_|up|pgbouncer_", expression), place


def test_the_example_reads_both_ports():
    (job,) = yaml.safe_load((MONITORING / "prometheus.yml").read_text())["scrape_configs"]
    assert job["job_name"] == "storefront"
    assert job["static_configs"][0]["targets"] == ["127.0.0.1:9100", "127.0.0.1:9101"]
