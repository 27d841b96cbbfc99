#!/usr/bin/env python3
"""Checks what `sam build` built: every binary starts on Amazon Linux 2023, and none is larger than it may be."""

import re
import sys

from functions import BUILT, functions

# What Amazon Linux 2023, and with it `provided.al2023`, has.
NEWEST_GLIBC = (2, 34)
# Stripped, in bytes. Start-up grows with the size, and DynamoDB brings the AWS SDK.
LARGEST = 4_000_000
LARGEST_WITH_TABLE = 7_000_000


def needed_glibc(program):
    """The newest version of glibc that the program has symbols of."""
    versions = re.findall(rb"GLIBC_(\d+)\.(\d+)", program)
    return max(((int(major), int(minor)) for major, minor in versions), default=(0, 0))


def main():
    if not BUILT.is_file():
        print("nothing is built: run `tests/sam/run build` first", file=sys.stderr)
        return 1
    failed = 0
    for name, function in sorted(functions().items()):
        if not function.program.is_file():
            print(f"{name}: `sam build` left no {function.program}")
            failed += 1
            continue
        program = function.program.read_bytes()
        glibc, largest = needed_glibc(program), LARGEST_WITH_TABLE if function.has_table() else LARGEST
        problems = []
        if glibc > NEWEST_GLIBC:
            problems.append(f"Amazon Linux 2023 has GLIBC {NEWEST_GLIBC[0]}.{NEWEST_GLIBC[1]} only")
        if len(program) > largest:
            problems.append(f"it may have at most {largest:,} bytes")
        failed += bool(problems)
        verdict = "ok" if not problems else "TOO MUCH: " + "; ".join(problems)
        print(f"{name:20} {len(program):10,} bytes, needs GLIBC {glibc[0]}.{glibc[1]:<3} {verdict}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
