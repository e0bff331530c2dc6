"""Examples of all operations: requests that were made, their responses, and code that makes them.

`examples.json` is written by `tests/server/test_api_examples.py`, which makes every request and compares.
"""

from importlib import resources
from pprint import pformat
from shlex import quote
from typing import Any

import orjson

# By the operation's name: {method, path, cart, request, status, response}. `cart` is true if the call needs a cart's
# token.
EXAMPLES: dict[str, dict[str, Any]] = orjson.loads(
    resources.files("storefront.server.api").joinpath("examples.json").read_bytes()
)


def add_example(name: str, details: dict[str, Any]) -> None:
    """Add the operation's example, and the same in curl, Python and TypeScript, to its description."""
    example = EXAMPLES.get(name)
    # Without one only while the test writes the example of a new operation.
    if example is None:
        return
    if example["request"] is not None:
        details["requestBody"]["content"]["application/json"]["example"] = example["request"]
    details["responses"][example["status"]]["content"]["application/json"]["example"] = example["response"]
    languages = (("Shell", "curl", _curl), ("Python", "Python", _python), ("TypeScript", "TypeScript", _typescript))
    details["x-codeSamples"] = [
        {"lang": lang, "label": label, "source": write(example)} for lang, label, write in languages
    ]


def _curl(example: dict[str, Any]) -> str:
    method = "" if example["method"] == "GET" else f"-X {example['method']} "
    lines = [f'curl {method}"$SHOP{example["path"]}"', '-H "Authorization: Bearer $TOKEN"']
    if example["cart"]:
        lines.append('-H "X-Cart-Token: $CART_TOKEN"')
    if example["request"] is not None:
        lines += ["-H 'Content-Type: application/json'", f"-d {quote(orjson.dumps(example['request']).decode())}"]
    return " \\\n  ".join(lines)


def _python(example: dict[str, Any]) -> str:
    headers = ['"Authorization": f"Bearer {os.environ[\'TOKEN\']}"']
    if example["cart"]:
        headers.append('"X-Cart-Token": os.environ["CART_TOKEN"]')
    lines = [f'    os.environ["SHOP"] + "{example["path"]}",', f"    headers={{{', '.join(headers)}}},"]
    if example["request"] is not None:
        body = pformat(example["request"], sort_dicts=False, width=100).replace("\n", "\n         ")
        lines.append(f"    json={body},")
    call = f"response = requests.{example['method'].lower()}("
    end = [")", "response.raise_for_status()", "print(response.json())"]
    return "\n".join(["import os", "", "import requests", "", call, *lines, "    timeout=10,", *end])


def _typescript(example: dict[str, Any]) -> str:
    headers = ["    Authorization: `Bearer ${process.env.TOKEN}`,"]
    if example["cart"]:
        headers.append('    "X-Cart-Token": process.env.CART_TOKEN ?? "",')
    lines = []
    if example["request"] is not None:
        headers.append('    "Content-Type": "application/json",')
        body = orjson.dumps(example["request"], option=orjson.OPT_INDENT_2).decode().replace("\n", "\n  ")
        lines.append(f"  body: JSON.stringify({body}),")
    call = f"const response = await fetch(`${{process.env.SHOP}}{example['path']}`, {{"
    method = f'  method: "{example["method"]}",'
    end = ["});", "if (!response.ok) throw new Error(await response.text());", "console.log(await response.json());"]
    return "\n".join([call, method, "  headers: {", *headers, "  },", *lines, *end])
