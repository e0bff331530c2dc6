import platform
from collections.abc import Iterator
from importlib import metadata

from packaging.requirements import Requirement

from storefront.server.doctor.findings import Finding, State

CHECK = "versions"
PACKAGE = "storefront"


def look() -> Iterator[Finding]:
    """Whether the installed packages are those that this release needs, as they are not after an update by half."""
    wrong = [text for line in metadata.requires(PACKAGE) or [] if (text := problem_of(Requirement(line)))]
    if wrong:
        yield Finding(CHECK, State.MISSING, f"{'; '.join(wrong)}.", "Install the release again: make setup, or pip.")
        return
    yield Finding(
        CHECK,
        State.OK,
        f"Storefront {metadata.version(PACKAGE)} on Python {platform.python_version()}, with the packages it needs.",
    )


def problem_of(requirement: Requirement) -> str:
    """The package that is missing, or has another version than required; empty if it is there, or an extra's."""
    if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
        return ""
    try:
        found = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        return f"{requirement.name} is not installed"
    if requirement.specifier.contains(found, prereleases=True):
        return ""
    return f"{requirement.name} is {found}, needed is {requirement.specifier}"
