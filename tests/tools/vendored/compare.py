#!/usr/bin/env python3
"""Compares the checked-in libraries with the packages that their authors publish.

The README of each folder lists its files. The script downloads the packages from the npm registry, compares their integrity
with the README, and the files byte by byte.
"""

import base64
import hashlib
import io
import json
import re
import sys
import tarfile
import time
import urllib.request
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
FOLDERS = ["functions/page/vendor", "tests/browser/vendor"]
REGISTRY = "https://registry.npmjs.org"
ROW = re.compile(
    r"\| `(?P<file>[^`]+)` \| `(?P<path>[^`]+)` \| (?P<package>\S+) (?P<version>\S+) \| (?P<licence>\S+) \| `(?P<integrity>[^`]+)` \|"
)
ATTEMPTS = 3


def download(package, version):
    url = f"{REGISTRY}/{package}/-/{package}-{version}.tgz"
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with urllib.request.urlopen(url, timeout=60) as response:
                return response.read()
        except OSError:
            if attempt == ATTEMPTS:
                raise
            time.sleep(5 * attempt)


def differences(folder, packages):
    """Yields a sentence for each difference between the folder and the packages that its README names."""
    rows = [match.groupdict() for match in ROW.finditer((folder / "README.md").read_text())]
    listed = {row["file"] for row in rows}
    present = {path.name for path in folder.iterdir()} - {"README.md"}
    for name in sorted(listed ^ present):
        yield f"{folder}/{name} is {'not in README.md' if name in present else 'missing'}"
    for row in rows:
        name = (row["package"], row["version"])
        if name not in packages:
            packages[name] = download(*name)
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(packages[name]).digest()).decode()
        if integrity != row["integrity"]:
            yield f"{row['file']}: the integrity of {' '.join(name)} is {integrity}"
        with tarfile.open(fileobj=io.BytesIO(packages[name])) as package:
            published = package.extractfile(f"package/{row['path']}").read()
            manifest = json.load(package.extractfile("package/package.json"))
        if manifest["license"] != row["licence"]:
            yield f"{row['file']}: the licence of {' '.join(name)} is {manifest['license']}"
        if row["file"] in present and (folder / row["file"]).read_bytes() != published:
            yield f"{folder}/{row['file']} is not {row['path']} of {' '.join(name)}"


def main():
    packages = {}
    found = [fault for folder in FOLDERS for fault in differences(REPOSITORY / folder, packages)]
    for fault in found:
        print(fault, file=sys.stderr)
    print(f"{len(packages)} packages compared, {len(found)} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
