"""Writes what `sam build` would write, from the development builds in `target/debug`. A release build would take minutes.

Writes each function as an archive, because SAM would compress a folder again for each deployment.
"""

import re
import shutil
import subprocess
import zipfile

from processes import REPOSITORY, TARGET, Failure

FUNCTION = re.compile(r"^( +)Binary: ([a-z-]+)\n( +)Properties:\n", re.MULTILINE)
CODE_OF_ALL = re.compile(r"^ +CodeUri: \./\n", re.MULTILINE)


def pack(folder):
    """Writes the templates, and an archive with `bootstrap` for each function."""
    source = (REPOSITORY / "template.yaml").read_text()
    template, replaced = CODE_OF_ALL.subn("", source)
    binaries = [match[2] for match in FUNCTION.finditer(template)]
    if replaced != 1 or len(binaries) != source.count("AWS::Serverless::Function"):
        raise Failure("template.yaml has functions whose code cannot be found: adapt packing.py")
    (folder / "infra").mkdir(parents=True)
    (folder / "template.yaml").write_text(FUNCTION.sub(r"\g<0>\3  CodeUri: \2.zip\n", template))
    for nested in (REPOSITORY / "infra").glob("*.yaml"):
        shutil.copy(nested, folder / "infra")
    for binary in binaries:
        program = TARGET / "debug" / binary
        if not program.exists():
            raise Failure(f"{program} does not exist: run cargo build --workspace")
        # Without debug information, a program is half as large.
        bootstrap = folder / "bootstrap"
        subprocess.run(["strip", "-o", bootstrap, program], check=True)
        with zipfile.ZipFile(folder / f"{binary}.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.write(bootstrap, bootstrap.name)
