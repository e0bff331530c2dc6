"""The form of an archive: a ZIP file with one JSON Lines file for each table, the shop's files, and a manifest.

    manifest.json       version of the form and the release, what each table has (`Part`), what was left out
    tables/TABLE.jsonl  a row a line, as `rows.py` writes it
    files.jsonl         a file a line: storage, name, size, SHA-256, entry
    files/NUMBER        the content of a file

The manifest has the SHA-256 of all other entries but `files/`, and files.jsonl those of `files/`, so that a broken
archive is noticed before anything is written.
"""

from typing import Any, Final, Literal

from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from pydantic import BaseModel, ConfigDict, Field

FORMAT: Final = "storefront-shop"
VERSION: Final = 1
MANIFEST, FILES = "manifest.json", "files.jsonl"


class Part(BaseModel):
    """An entry with lines: how many, bytes and SHA-256. `columns` are those of a table."""

    model_config = ConfigDict(extra="forbid")

    lines: int = Field(ge=0)
    size: int = Field(ge=0)
    sha256: str
    columns: list[str] = []


class Member(BaseModel):
    """Somebody of the staff, who is found by the email address."""

    model_config = ConfigDict(extra="forbid")

    email: str
    role: str


class Manifest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    format: Literal["storefront-shop"]
    version: Literal[1]
    release: str
    migrations: dict[str, str]
    domain: str
    name: str
    # Begins the URLs of its pictures.
    media_url: str
    made_at: str
    tables: dict[str, Part]
    files: Part
    files_missing: int = Field(ge=0)
    staff: list[Member]
    # Names of what is to be entered again.
    apps: list[str]
    providers: list[str]
    tokens: list[str]
    left_out: dict[str, int]


class File(BaseModel):
    """A file of the shop: in the storage of pictures, or in the private one."""

    model_config = ConfigDict(extra="forbid")

    storage: Literal["pictures", "private"]
    name: str = Field(min_length=1, max_length=500)
    size: int = Field(ge=0)
    sha256: str
    entry: str


def migrations() -> dict[str, str]:
    """The last applied migration of each app: the form of the tables."""
    applied: dict[str, str] = {}
    for app, name in sorted(MigrationRecorder(connection).applied_migrations()):
        applied[app] = name
    return applied


def entry_of(label: str) -> str:
    """The entry of a table's rows."""
    return f"tables/{label}.jsonl"


def parsed(model: Any, line: bytes) -> Any:
    """A manifest or a file from its JSON. Raises ValueError, which pydantic's error is."""
    return model.model_validate_json(line)
