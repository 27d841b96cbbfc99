#!/usr/bin/env python3
"""Checks that released binaries run on Amazon Linux 2023 and are within their size limits.

    binaries.py .aws-sam/build       all functions of `sam build`
    binaries.py target/lambda NAME…  these functions of `cargo lambda build`
"""

import pathlib
import re
import sys

from functions import functions
from processes import REPOSITORY

# The glibc version of Amazon Linux 2023, the base of `provided.al2023`.
NEWEST_GLIBC = (2, 34)
# The limits of stripped binaries in bytes. Larger binaries start more slowly. Functions with a table link the AWS SDK, and
# those with files the client of S3.
LARGEST = 4_000_000
LARGEST_WITH_CLIENT = 7_000_000
# Recorders with a table and files run in the background, so no client waits for their start.
LARGEST_WITH_BOTH = 9_000_000
# `page` embeds the pages and their files. The script of the API reference alone has 5 MB.
LARGEST_WITH_PAGES = 9_000_000


def needed_glibc(program):
    """Returns the newest version of glibc among the symbols of the program."""
    versions = re.findall(rb"GLIBC_(\d+)\.(\d+)", program)
    return max(((int(major), int(minor)) for major, minor in versions), default=(0, 0))


def largest_size(function):
    """Returns the size limit of the function's program, in bytes."""
    if function.binary == "page":
        return LARGEST_WITH_PAGES
    if function.has_table and function.has_files:
        return LARGEST_WITH_BOTH
    return LARGEST_WITH_CLIENT if function.has_table or function.has_files else LARGEST


def main(folder, *names):
    failed = 0
    found = sorted(functions(REPOSITORY / "template.yaml"), key=lambda function: function.binary)
    for function in (function for function in found if not names or function.binary in names):
        name = function.binary
        path = pathlib.Path(folder, name if names else function.logical_id, "bootstrap")
        if not path.is_file():
            print(f"{name}: there is no {path}")
            failed += 1
            continue
        program = path.read_bytes()
        glibc, largest = needed_glibc(program), largest_size(function)
        problems = []
        if glibc > NEWEST_GLIBC:
            problems.append(f"Amazon Linux 2023 has only GLIBC {NEWEST_GLIBC[0]}.{NEWEST_GLIBC[1]}")
        if len(program) > largest:
            problems.append(f"the limit is {largest:,} bytes")
        failed += bool(problems)
        verdict = "ok" if not problems else "FAILED: " + "; ".join(problems)
        print(f"{name:20} {len(program):10,} bytes, needs GLIBC {glibc[0]}.{glibc[1]:<3} {verdict}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
