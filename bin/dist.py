"""`make dist`: builds wheel, source archive and image of the last commit into dist/, from a clone of its own, so that
nothing that is not committed gets in."""

import argparse
import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UV = Path(sys.executable).with_name("uv")
IMAGE_BUILDERS = ("docker", "podman", "buildah")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=ROOT / "dist", help="folder of what is built (default: %(default)s)")
    parser.add_argument("--commit", default="HEAD", help="what to build (default: %(default)s)")
    given = parser.parse_args()
    commit = output_of("git", "-C", str(ROOT), "rev-parse", "--verify", f"{given.commit}^{{commit}}")
    if output_of("git", "-C", str(ROOT), "status", "--porcelain"):
        print("dist: there are changes that are not committed; they are left out.", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="storefront-dist-") as folder:
        clone = Path(folder) / "storefront"
        run("git", "clone", "--quiet", "--no-checkout", "--no-local", str(ROOT), str(clone))
        run("git", "-C", str(clone), "checkout", "--quiet", "--detach", commit)
        built = build_packages(clone, Path(folder) / "built")
        given.to.mkdir(parents=True, exist_ok=True)
        for path in built:
            shutil.copy(path, given.to)
            print(given.to / path.name)
        build_image(clone, version_of(built), commit)
    return 0


def build_packages(clone: Path, into: Path) -> list[Path]:
    """The source archive, a wheel that is built from it, the locked versions of what they need, and their digests."""
    run(str(UV), "build", "--quiet", "--out-dir", str(into), str(clone))
    locked = into / "requirements.txt"
    choice = ("--frozen", "--no-dev", "--extra", "s3", "--no-emit-project", "--no-header")
    run(str(UV), "export", "--quiet", *choice, "--project", str(clone), "--output-file", str(locked))
    packages = sorted(path for path in into.iterdir() if path.suffix in (".whl", ".gz", ".txt"))
    sums = into / "SHA256SUMS"
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in packages]
    sums.write_text("".join(lines))
    return [*packages, sums]


def version_of(built: list[Path]) -> str:
    (wheel,) = [path for path in built if path.suffix == ".whl"]
    return wheel.name.split("-")[1]


def build_image(clone: Path, version: str, commit: str) -> None:
    builder = next((name for name in IMAGE_BUILDERS if is_working(name)), None)
    if builder is None:
        print(f"dist: NO IMAGE was built: none of {', '.join(IMAGE_BUILDERS)} works here.", file=sys.stderr)
        return
    label = f"org.opencontainers.image.revision={commit}"
    run(builder, "build", "--label", label, "--tag", f"storefront:{version}", str(clone))
    print(f"storefront:{version} (image, by {builder})")


def is_working(builder: str) -> bool:
    """Returns True if the program is installed and its service, if it needs one, answers."""
    if not shutil.which(builder):
        return False
    try:
        return subprocess.run([builder, "info"], capture_output=True, timeout=30, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def run(*command: str) -> None:
    subprocess.run(command, check=True)


def output_of(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
