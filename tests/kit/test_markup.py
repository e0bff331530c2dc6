"""HTML that would take a sanitizer seconds is refused when it is saved, and never reaches the sanitizer unchanged."""

import re

import nh3
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storefront.kit import markup
from storefront.website.texts import TAGS

pytestmark = pytest.mark.slow

NAMES = ["b", "i", "a", "font", "p", "div", "span", "li", "ul", "dd", "dt", "table", "tr", "td", "th", "caption", "br"]
NAMES += [
    "script",
    "style",
    "svg",
    "select",
    "option",
    "textarea",
    "button",
    "template",
    "object",
    "h1",
    "xmp",
    "plaintext",
]
PIECES = st.one_of(
    st.sampled_from([f"<{name}>" for name in NAMES] + [f"</{name}>" for name in NAMES]),
    st.sampled_from(["<!--", "-->", "<!", "<", ">", "</", '"', "'", '<a b="', "<a b='x'>", "x", " ", "=", "<p x=y/>"]),
)
VOID = {"br", "hr", "img", "area", "col", "wbr"}
TAG = re.compile(r"<(/?)([a-z0-9]+)[^<>]*>")
SOUP = st.lists(PIECES, max_size=80).map("".join)


def depth_of(html: str) -> int:
    """Nesting depth of clean HTML."""
    depth = deepest = 0
    for end, name in TAG.findall(html):
        if name not in VOID:
            depth += -1 if end else 1
            deepest = max(deepest, depth)
    assert depth == 0
    return deepest


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("<div>" * 30_000, "30,000 tags"),
        ("<div>" * 101, "elements nested 101 deep"),
        ("<b>" * 21, "21 nested elements such as a, b"),
        ("".join(f"<b id={number}><p>" for number in range(2500)), "nested elements such as a, b"),
        ("<p " + " ".join(f"a{number}=1" for number in range(50_000)) + ">", "characters"),
        ("<p " + " ".join(f"a{number}" for number in range(101)) + ">", "101 attributes"),
        ("x" * 250_001, "250,001 characters"),
    ],
)
def test_a_text_beyond_a_limit_has_a_problem_that_names_it(text, problem):
    assert problem in markup.problem(text)


@pytest.mark.parametrize(
    "text",
    [
        "<div>" * 100 + "</div>" * 100,
        "<p>One<p>Two" * 2400,
        "<b><i>crossed</b></i>" * 1000,
        "<ul>" + "<li>x" * 2000 + "</ul>",
        "<table>" + "<tr><td>x<td>y" * 1000 + "</table>",
        "5 < 6 and 7 > 6",
        "<!-- " + "<div>" * 300 + " -->",
        "<p>" + "word " * 40_000 + "</p>",
    ],
)
def test_ordinary_texts_have_no_problem(text):
    assert markup.problem(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<p>One<p>Two", "<p>One</p><p>Two</p>"),
        ("<b>a<i>b</b>c</i>", "<b>a<i>b</i></b><i>c</i>"),
        ("<ul><li>a<li>b</ul>c", "<ul><li>a</li><li>b</li></ul>c"),
        ("<table><tr><td>a<td>b<tr><td>c</table>", "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>"),
        ("a<script>b</script>c<!-- d -->e", "ace"),
        ("<a href=\"/x?a=1&amp;b=2\" title='t'>x</a>", "<a href=\"/x?a=1&amp;b=2\" title='t'>x</a>"),
        ("<p>x</p></div>", "<p>x</p>"),
        ("a <b", "a "),
    ],
)
def test_tidy_closes_open_elements_in_order(text, expected):
    assert markup.tidy(text).text == expected


@pytest.mark.parametrize("left_out", ["<!>", "<!-- x -->", "<?x>", "</>"])
def test_what_is_left_out_never_joins_text_to_a_tag(left_out):
    tidied = markup.tidy(f"<{left_out}div>" * 6000, allowed=TAGS).text
    assert "<div" not in tidied
    assert nh3.clean(tidied, tags=TAGS).startswith("&lt;div&gt;")


@given(SOUP)
def test_the_sanitizer_gets_bounded_depth_and_length(soup):
    """Whatever browsers would make of the text itself."""
    text = soup * 20
    clean = nh3.clean(markup.tidy(text, allowed=TAGS).text, tags=TAGS)
    # Browsers add parts of tables that were left out.
    assert depth_of(clean) <= 2 * markup.MAX_DEPTH
    assert clean.count("<") <= 2 * markup.MAX_TAGS * (markup.MAX_MARK_DEPTH + 2)


@given(SOUP.filter(lambda soup: '"' not in soup and "'" not in soup))
def test_every_element_of_tidied_text_is_closed_in_order(soup):
    open: list[str] = []
    for end, name in TAG.findall(markup.tidy(soup * 5, allowed=TAGS).text):
        if end:
            assert open.pop() == name
        elif name not in VOID:
            open.append(name)
            assert len(open) <= markup.MAX_DEPTH
            assert sum(each in ("a", "b", "i") for each in open) <= markup.MAX_MARK_DEPTH
    assert open == []


@given(
    st.recursive(
        st.text("abc é&;", max_size=5),
        lambda inner: st.builds(
            lambda name, parts: f"<{name}>{''.join(parts)}</{name}>",
            st.sampled_from(["div", "b", "em", "ul", "blockquote", "span"]),
            st.lists(inner, max_size=3),
        ),
    )
)
def test_well_formed_text_means_the_same_as_before(html):
    assert nh3.clean(markup.tidy(html, allowed=TAGS).text, tags=TAGS) == nh3.clean(html, tags=TAGS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<p>One</p><p>T<b>w</b>o</p>", " One  Two "),
        ("a<style>p {}</style>b", "a  b"),
        ("&lt;b&gt; &amp; 5 < 6", "<b> & 5 < 6"),
    ],
)
def test_plain_text_has_no_tags(text, expected):
    assert markup.plain_text(text) == expected
