#!/usr/bin/env python3
"""The functions as SAM itself reads them from a template: their binaries, environments and bounds.

    python functions.py binaries         prints the names of the binaries, one in a line
    python functions.py configuration    prints which part of samconfig.toml is for this machine
"""

import dataclasses
import pathlib
import platform
import sys

from samcli.lib.config.samconfig import SamConfig
from samcli.lib.providers.sam_function_provider import SamFunctionProvider
from samcli.lib.providers.sam_stack_provider import SamLocalStackProvider

from processes import REPOSITORY

# The processor of this machine, as SAM calls it, and the part of `samconfig.toml` for it.
ARCHITECTURE = {"aarch64": "arm64"}.get(platform.machine(), platform.machine())
CONFIGURATION = {"arm64": "default"}.get(ARCHITECTURE, ARCHITECTURE)

# Where `sam build` leaves the template, with the functions beside it.
BUILT = REPOSITORY / ".aws-sam" / "build" / "template.yaml"


@dataclasses.dataclass
class Function:
    """A function of the template. `program` is there after `sam build` only."""

    logical_id: str
    binary: str
    program: pathlib.Path
    environment: dict
    memory_mb: int
    timeout_s: int

    def has_table(self):
        """Whether it uses DynamoDB, and so carries the AWS SDK."""
        return any(name.endswith("_TABLE") for name in self.environment)


def parameters_of_local_commands():
    """What `samconfig.toml` says for `sam local invoke` on this machine."""
    configuration = SamConfig(REPOSITORY)
    configured = configuration.get_all(["local", "invoke"], "parameters", CONFIGURATION)["parameter_overrides"]
    return dict(pair.split("=", 1) for pair in configured)


def functions(template=BUILT, **parameters):
    """All functions of a template with the parameters of local commands and these, by the names of their binaries."""
    overrides = {**parameters_of_local_commands(), **parameters}
    stacks, _ = SamLocalStackProvider.get_stacks(str(template), parameter_overrides=overrides)
    found = {}
    for function in SamFunctionProvider(stacks).get_all():
        binary = function.metadata["BuildProperties"]["Binary"]
        variables = (function.environment or {}).get("Variables", {})
        found[binary] = Function(
            logical_id=function.name,
            binary=binary,
            program=pathlib.Path(template).parent / function.name / "bootstrap",
            environment={name: str(value) for name, value in variables.items()},
            memory_mb=function.memory,
            timeout_s=function.timeout,
        )
    return found


if __name__ == "__main__":
    if sys.argv[1:] == ["configuration"]:
        print(CONFIGURATION)
    elif sys.argv[1:] == ["binaries"]:
        print("\n".join(sorted(functions(REPOSITORY / "template.yaml"))))
    else:
        sys.exit("usage: functions.py binaries|configuration")
