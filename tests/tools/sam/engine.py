"""Starts a Docker engine, and builds the image in which functions run."""

import contextlib
import io
import ipaddress
import os
import pathlib
import re
import subprocess
import tarfile
import tempfile

import docker

from processes import Process

# The engine's network. Its network namespace is separate, so it cannot collide with another network.
BRIDGE = "172.31.255.1/24"
# The shell of the image, from a Debian package. It is statically linked, so it needs no libraries.
BUSYBOX = "/bin/busybox"
IMAGE = "game-data-query-service-test"


@contextlib.contextmanager
def own_engine():
    """Starts an engine, which stops when the `with` block ends. Needs root in separate namespaces, which `check_with_sam.sh` creates."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    # The path of a socket must be short.
    with tempfile.TemporaryDirectory(prefix="sam-engine-") as folder:
        folder = pathlib.Path(folder)
        address = f"unix://{folder}/docker.sock"
        command = ["dockerd", "--host", address, "--data-root", folder / "data", "--exec-root", folder / "exec"]
        command += ["--pidfile", folder / "pid", "--bip", BRIDGE, "--iptables=false", "--ip6tables=false"]
        with Process("the Docker engine", command) as process:
            os.environ["DOCKER_HOST"] = address
            process.wait_until(is_running, seconds=60, what="it responded")
            yield


def is_running():
    """Returns whether the engine of DOCKER_HOST, or of this machine by default, is running."""
    with contextlib.suppress(docker.errors.DockerException, OSError), contextlib.closing(docker.from_env(timeout=5)) as client:
        return client.ping()


def bridge_address():
    """Returns the address of this machine in the containers' network."""
    with contextlib.closing(docker.from_env()) as client:
        [network, *_] = client.networks.get("bridge").attrs["IPAM"]["Config"]
    # If the engine does not report the address, it is the first address of the subnet.
    return network.get("Gateway") or str(next(ipaddress.ip_network(network["Subnet"]).hosts()))


@contextlib.contextmanager
def image(programs):
    """Builds an image with the libraries that the programs link, and yields its name. The image is removed after the `with` block."""
    with contextlib.closing(docker.from_env(timeout=120)) as client:
        client.api.import_image_from_data(root_file_system(programs), repository=IMAGE, tag="latest")
        try:
            yield f"{IMAGE}:latest"
        finally:
            # Also removes the image that SAM builds from this image and its emulator.
            for built in client.images.list(IMAGE):
                client.images.remove(built.id, force=True)


def root_file_system(programs):
    """Returns a tar archive with a shell, which SAM needs to build its image, and the libraries that the programs link."""
    listed = subprocess.run(["ldd", *programs], capture_output=True, text=True, check=True).stdout
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        tar.add(os.path.realpath(BUSYBOX), "bin/busybox")
        for applet in ["sh", "chmod", "mv", "ls"]:
            link = tarfile.TarInfo(f"bin/{applet}")
            link.type, link.linkname = tarfile.SYMTYPE, "busybox"
            tar.addfile(link)
        temporary = tarfile.TarInfo("tmp")
        temporary.type, temporary.mode = tarfile.DIRTYPE, 0o1777
        tar.addfile(temporary)
        for library in sorted(set(re.findall(r"(/\S+) \(0x", listed))):
            # The loader looks for this name, even if it is a link.
            tar.add(os.path.realpath(library), library.lstrip("/"))
    return archive.getvalue()
