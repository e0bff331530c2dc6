"""Reads the alerts and the dashboard of deploy/monitoring."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import yaml

MONITORING = Path(__file__).parents[2] / "deploy/monitoring"
_FIGURE = re.compile(r"(storefront_[a-z_]+)(?:\{([^}]*)\})?")
_MATCHER = re.compile(r"([a-z_]+)\s*(?:=~|!~|!=|=)")
_BY = re.compile(r"\bby \(([^)]*)\)\s*\(")


def rules() -> list[dict]:
    (group,) = yaml.safe_load((MONITORING / "alerts.yml").read_text())["groups"]
    return group["rules"]


def panels() -> list[dict]:
    return json.loads((MONITORING / "dashboard.json").read_text())["panels"]


def expressions() -> Iterator[tuple[str, str]]:
    """Each expression, with the alert or the panel that has it."""
    for rule in rules():
        yield rule["alert"], rule["expr"]
    for panel in panels():
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"]


def used_figures() -> list[tuple[str, str, set[str]]]:
    """The alert or panel, a figure that it uses, and the labels of it that it names."""
    found = []
    for place, expression in expressions():
        for name, matchers in _FIGURE.findall(expression):
            labels = set(_MATCHER.findall(matchers))
            if len({name for name, _ in _FIGURE.findall(expression)}) == 1:
                labels |= {label.strip() for part in _BY.findall(expression) for label in part.split(",")}
            found.append((place, name, labels))
    return found
