"""`make check`: plain words in comments, docstrings, names, and in the texts that people read.

Each table maps a ban, a regular expression, to what to write instead. Landed migrations are not checked.
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

FOLDERS = ("storefront", "bin", "benchmarks", "deploy")
TEXTS = {"storefront": ("*.html", "*.txt"), "docs": ("*.md",)}
# In comments and docstrings.
PROSE = {
    r"\b(?:told|tells? of)\b": "what happens: emitted, sent, returned, recorded",
    r"\b(?:said|saying|unsay)\b": "what happens: stored, returned, reported",
    r"(?<!\.md )(?<!\bdocumentation )(?<!\bcontract )\bsays\b": "stores, returns, names, decides, lists",
    r"\bstanding\b": "existing, open",
    r"\bgives? back\b": "refund, release, return",
    r"\bwants\b": "needs, requests, expects",
    r"\bwhether it\b": "Returns True if ..., or name the thing",
    r"\bput right\b": "corrected, adjusted",
    r"(?<![`-])\banew\b": "again",
    r"\bwhat came of\b": "the outcome of",
}
# At the beginning of a comment or docstring.
BEGINNINGS = {
    r"Of\b": "the thing itself: Bytes of ..., Orders of ...",
    r"Whether it\b": "Returns True if ...",
    r"What is\b": "a noun or a verb: The amount left, Returns ...",
    r"(?:It|Its|They|Their|These|Those)\b": "the noun that the pronoun stands for",
}
# As the whole name of a variable, argument or constant; of a function, after "def ".
NAMES = {
    r"(?:def )?_?(?:told|said|saying|unsay)": "emitted, reported, message",
    r"def _?(?:standing|goods)": "existing, purchasable",
    r"(?:def )?\w*give_back\w*": "release, refund, return",
    r"_?(?:MOST|LONGEST|LARGEST|DEEPEST)(?:_\w+)?": "MAX_...",
    r"_?(?:LEAST|SHORTEST|SMALLEST|FEWEST)(?:_\w+)?": "MIN_...",
}
# In pages, mails, docs, and strings of the code.
SHOWN = {
    r"\bStock put right\b": "Stock adjustments",
    r"\bOnly try\b": "Dry run",
    r"\bGo on to delivery\b": "Continue to delivery",
    r"(?:^|>)It goes to(?:<|$)": "Ship to",
    r"\bFrom the same shelf\b": "You may also like",
    r"\bTo the start\b": "Back to home",
}


def problems(root: Path) -> Iterator[str]:
    """Problems of the project in this folder, as lines with path, line and what to write instead."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.py")):
            if "migrations" not in path.parts and path != root / "bin/words.py":
                for line, problem in sorted(set(in_code(path.read_text()))):
                    yield f"{path.relative_to(root)}:{line}: {problem}"
    for folder, patterns in TEXTS.items():
        for path in sorted(path for pattern in patterns for path in (root / folder).rglob(pattern)):
            for line, text in enumerate(path.read_text().splitlines(), start=1):
                yield from (f"{path.relative_to(root)}:{line}: {problem}" for problem in banned(SHOWN, text))


def in_code(source: str) -> Iterator[tuple[int, str]]:
    """Line and problem of each banned word in Python source."""
    docstrings: set[ast.AST] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text, first = ast.get_docstring(node), node.body[0] if node.body else node
            if text and isinstance(first, ast.Expr):
                docstrings.add(first.value)
                yield from ((first.lineno, problem) for problem in in_prose(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docstrings:
            yield from ((node.lineno, problem) for problem in banned(SHOWN, node.value))
        if name := name_of(node):
            yield from ((node.lineno, problem) for problem in banned(NAMES, name, whole=True))  # type: ignore[attr-defined]
    for line, comment in comments(source):
        yield from ((line, problem) for problem in in_prose(comment))


def comments(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of each comment; comments on lines of their own that follow each other are one."""
    first, last, column, texts = 0, 0, -1, list[str]()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            follows = token.start == (last + 1, column) and token.line.lstrip().startswith("#")
            if texts and not follows:
                yield first, " ".join(texts)
            first, texts = (first, texts) if follows else (token.start[0], [])
            (last, column), texts = token.start, [*texts, token.string.lstrip("#").strip()]
    yield first, " ".join(texts)


def name_of(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            return name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return f"def {name}"
    return ""


def in_prose(text: str) -> Iterator[str]:
    prose = " ".join(text.split())
    yield from banned({rf"^(?:{start})": instead for start, instead in BEGINNINGS.items()}, prose)
    yield from banned(PROSE, prose)


def banned(bans: dict[str, str], text: str, *, whole: bool = False) -> Iterator[str]:
    for ban, instead in bans.items():
        if match := (re.fullmatch if whole else re.search)(ban, text):
            yield f'"{match[0]}": write {instead}'


if __name__ == "__main__":
    sys.exit("\n".join(problems(Path())) or 0)
