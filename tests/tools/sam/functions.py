#!/usr/bin/env python3
"""Reads the functions of a template with SAM. As a program, prints groups of binaries to build together, one group per line."""

import dataclasses
import pathlib

from samcli.lib.providers.sam_function_provider import SamFunctionProvider
from samcli.lib.providers.sam_stack_provider import SamLocalStackProvider

from processes import REPOSITORY

# The template that `sam build` writes, beside the functions.
BUILT = REPOSITORY / ".aws-sam" / "build" / "template.yaml"


@dataclasses.dataclass
class Function:
    """A function of the template. `program` exists after `sam build`."""

    logical_id: str
    binary: str
    program: pathlib.Path
    # Whether the function uses DynamoDB, and therefore links the AWS SDK.
    has_table: bool
    # Whether the function reads or writes files, and therefore links the S3 client.
    has_files: bool


def functions(template=BUILT):
    """Yields the functions of a template with its default parameters."""
    stacks, _ = SamLocalStackProvider.get_stacks(str(template))
    for function in SamFunctionProvider(stacks).get_all():
        variables = (function.environment or {}).get("Variables", {})
        yield Function(
            logical_id=function.name,
            binary=function.metadata["BuildProperties"]["Binary"],
            program=pathlib.Path(template).parent / function.name / "bootstrap",
            has_table=any(name.endswith("_TABLE") for name in variables),
            has_files=not {"LISTINGS", "PUBLIC_FILES"}.isdisjoint(variables),
        )


if __name__ == "__main__":
    found = list(functions(REPOSITORY / "template.yaml"))
    # Functions with files link crc-fast. It is also a C library, so Cargo builds the dependencies of crc-fast without link-time
    # optimisation. In the same group, the other functions would share these builds. SAM builds one function at a time, so SAM would build
    # the dependencies of the other functions again.
    for group in (True, False):
        print(" ".join(sorted(function.binary for function in found if function.has_files == group)))
