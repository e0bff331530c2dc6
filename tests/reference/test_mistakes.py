"""Each of a list of mistakes is answered with the next step, as `docs/reference/mistakes.md` shows.

    UPDATE_DOCS=1 .venv/bin/python -m pytest tests/reference/test_mistakes.py

writes that page anew.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from storefront.kit import clock
from storefront.server.api.codes import CODES
from tests.answers import check_code
from tests.reference.mistakes import MISTAKES, MUG_BODY, Mistake, World, make_world

PAGE = Path("docs/reference/mistakes.md")
INTRODUCTION = """# Mistakes

What people get wrong when they use the API, and how it answers. A test makes each of these mistakes, and writes this
page. An answer's `request_id` and `doc_url` are left out; [every code](errors.md) has an entry at `/api/docs/errors`.
"""


@pytest.fixture
def world(shop, other_shop) -> World:
    world = make_world(shop, other_shop, clock.now())
    world.callers["api"].post("/api/v1/cart", MUG_BODY, Idempotency_Key="k1")
    return world


def filled_in(value: Any, world: World) -> Any:
    """The value with the placeholders filled in. One that is all of a text becomes a number."""
    text = json.dumps(value)
    for name, meant in world.names.items():
        text = text.replace(f'"{name}"', meant if meant.isdigit() else json.dumps(meant)).replace(name, meant)
    return json.loads(text)


def make(mistake: Mistake, world: World) -> Any:
    method, path = filled_in(mistake.call, world).split(" ")
    caller, headers = world.callers[mistake.who], filled_in(mistake.headers, world)
    if not isinstance(mistake.body, bytes):
        return caller.call(method.lower(), path, filled_in(mistake.body, world), **headers)
    sent = {"Authorization": f"Bearer {caller.token}"} | headers
    answer = caller.http.generic(method, path, mistake.body, sent.pop("Content-Type"), headers=sent)
    check_code(answer)
    return answer


def shown(mistake: Mistake, answer: Any, world: World) -> str:
    """The mistake and its answer in Markdown."""
    body = {name: value for name, value in answer.json().items() if name not in ("doc_url", "request_id")}
    text = json.dumps(body, ensure_ascii=False, indent=1)
    for name in ("order", "fulfilled", "line"):
        for before in ("/orders/", "Of line "):
            text = text.replace(before + world.names[f"{{{name}}}"], f"{before}{{{name}}}")
    sent = mistake.body if isinstance(mistake.body, bytes) else json.dumps(mistake.body).encode()
    lines = [mistake.call, *(f"{name}: {value}" for name, value in mistake.headers.items())]
    if mistake.body is not None and sent:
        lines += ["", sent.decode() if len(sent) < 200 else f"{sent.decode()[:60]}..."]
    ignored = f"X-Ignored: {answer['X-Ignored']}\n" if answer.has_header("X-Ignored") else ""
    remedy = CODES[mistake.code].remedy
    request = "\n".join(lines)
    return (
        f"## {mistake.what}\n\n```http\n{request}\n```\n\n```\n{answer.status_code}\n{ignored}{text}\n```\n\n{remedy}\n"
    )


@pytest.mark.rule("R-ERR-1", "R-ERR-13")
def test_each_mistake_is_answered_with_the_next_step(world):
    assert len(MISTAKES) >= 60
    sections = []
    for mistake in MISTAKES:
        answer = make(mistake, world)
        assert answer.json().get("code") == mistake.code, (mistake.what, answer.json())
        assert mistake.help in json.dumps(answer.json(), ensure_ascii=False), (mistake.what, answer.json())
        sections.append(shown(mistake, answer, world))
    page = "\n".join([INTRODUCTION, *sections])
    if os.environ.get("UPDATE_DOCS"):
        PAGE.write_text(page)
    assert PAGE.read_text() == page
