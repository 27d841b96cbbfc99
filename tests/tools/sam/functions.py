#!/usr/bin/env python3
"""The functions as SAM reads them from a template.

    python functions.py binaries         prints the names of the binaries; those of a line can be built together
    python functions.py configuration    prints the section of samconfig.toml for this machine
"""

import dataclasses
import pathlib
import platform
import sys

from samcli.lib.providers.sam_function_provider import SamFunctionProvider
from samcli.lib.providers.sam_stack_provider import SamLocalStackProvider

from processes import REPOSITORY

# The section of `samconfig.toml` for the processor of this machine.
CONFIGURATION = {"aarch64": "default"}.get(platform.machine(), platform.machine())

# Where `sam build` puts the template and the functions.
BUILT = REPOSITORY / ".aws-sam" / "build" / "template.yaml"


@dataclasses.dataclass
class Function:
    """A function of the template. `program` exists after `sam build`."""

    logical_id: str
    binary: str
    program: pathlib.Path
    # Whether it uses DynamoDB, and so links the AWS SDK.
    has_table: bool
    # Whether it writes the public files, and so links the client of S3 too.
    writes_files: bool


def functions(template=BUILT):
    """The functions of a template by binary, with the default parameters."""
    stacks, _ = SamLocalStackProvider.get_stacks(str(template))
    found = {}
    for function in SamFunctionProvider(stacks).get_all():
        binary = function.metadata["BuildProperties"]["Binary"]
        variables = (function.environment or {}).get("Variables", {})
        found[binary] = Function(
            logical_id=function.name,
            binary=binary,
            program=pathlib.Path(template).parent / function.name / "bootstrap",
            has_table=any(name.endswith("_TABLE") for name in variables),
            writes_files="PUBLIC_FILES" in variables,
        )
    return found


if __name__ == "__main__":
    if sys.argv[1:] == ["configuration"]:
        print(CONFIGURATION)
    elif sys.argv[1:] == ["binaries"]:
        found = functions(REPOSITORY / "template.yaml").values()
        # Those that write files link crc-fast, which is a C library too, so what it uses is built without link-time optimisation.
        # Beside them, the others would get that as well, and SAM, which builds one function at a time, would build them again.
        for group in (True, False):
            print(" ".join(sorted(function.binary for function in found if function.writes_files == group)))
    else:
        sys.exit("usage: functions.py binaries|configuration")
