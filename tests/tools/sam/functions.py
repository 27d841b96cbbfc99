#!/usr/bin/env python3
"""The functions as SAM reads them from a template. Prints the names of their binaries: those of a line can be built together."""

import dataclasses
import pathlib

from samcli.lib.providers.sam_function_provider import SamFunctionProvider
from samcli.lib.providers.sam_stack_provider import SamLocalStackProvider

from processes import REPOSITORY

# Where `sam build` puts the template and the functions.
BUILT = REPOSITORY / ".aws-sam" / "build" / "template.yaml"


@dataclasses.dataclass
class Function:
    """A function of the template. `program` exists after `sam build`."""

    binary: str
    program: pathlib.Path
    # Whether it uses DynamoDB, and so links the AWS SDK.
    has_table: bool
    # Whether it writes the public files, and so links the client of S3 too.
    writes_files: bool


def functions(template=BUILT):
    """The functions of a template, with the default parameters."""
    stacks, _ = SamLocalStackProvider.get_stacks(str(template))
    for function in SamFunctionProvider(stacks).get_all():
        variables = (function.environment or {}).get("Variables", {})
        yield Function(
            binary=function.metadata["BuildProperties"]["Binary"],
            program=pathlib.Path(template).parent / function.name / "bootstrap",
            has_table=any(name.endswith("_TABLE") for name in variables),
            writes_files="PUBLIC_FILES" in variables,
        )


if __name__ == "__main__":
    found = list(functions(REPOSITORY / "template.yaml"))
    # Those that write files link crc-fast, which is a C library too, so what it uses is built without link-time optimisation.
    # Beside them, the others would get that as well, and SAM, which builds one function at a time, would build them again.
    for group in (True, False):
        print(" ".join(sorted(function.binary for function in found if function.writes_files == group)))
