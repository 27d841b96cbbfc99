"""The Docker engine, and the image that functions run in."""

import contextlib
import io
import ipaddress
import os
import pathlib
import re
import socket
import socketserver
import subprocess
import tarfile
import tempfile
import threading

import docker

from processes import Failure, Process

# The engine's own network. It is in a separate network namespace, so it cannot collide with another.
BRIDGE = "172.31.255.1/24"
# From a Debian package. It is statically linked, so it runs in an image without libraries.
BUSYBOX = "/bin/busybox"


@contextlib.contextmanager
def own_engine():
    """An engine that ends with the block. It requires root in separate namespaces, which `check_with_sam.sh` creates."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    # A short path, because the path of a socket must be short.
    with tempfile.TemporaryDirectory(prefix="sam-engine-") as folder:
        folder = pathlib.Path(folder)
        address = f"unix://{folder}/docker.sock"
        command = ["dockerd", "--host", address, "--data-root", folder / "data", "--exec-root", folder / "exec"]
        command += ["--pidfile", folder / "pid", "--bip", BRIDGE, "--iptables=false", "--ip6tables=false"]
        with Process("the Docker engine", command, log="dockerd") as process:
            os.environ["DOCKER_HOST"] = address
            process.wait_until(is_running, seconds=60, what="it responded")
            yield


def is_running():
    """Whether the engine of DOCKER_HOST, or else of this machine, is running."""
    try:
        client = docker.from_env(timeout=5)
        try:
            return client.ping()
        finally:
            client.close()
    except (docker.errors.DockerException, OSError):
        return False


def bridge_address():
    """The address of this machine in the network of the containers."""
    client = docker.from_env()
    try:
        configuration = client.networks.get("bridge").attrs["IPAM"]["Config"]
    finally:
        client.close()
    for network in configuration:
        subnet = ipaddress.ip_network(network["Subnet"])
        if subnet.version == 4:
            # Not every engine reports it. Then it is the first address.
            return network.get("Gateway") or str(next(subnet.hosts()))
    raise Failure("the Docker engine has no IPv4 network 'bridge', which containers need to reach this machine")


@contextlib.contextmanager
def image(programs, variables):
    """The name of an image with the libraries that the programs link, and these variables. It is removed after the block."""
    name = f"game-data-query-service-test-{os.getpid()}"
    client = docker.from_env(timeout=120)
    try:
        changes = [f"ENV {variable}={value}" for variable, value in variables.items()]
        client.api.import_image_from_data(root_file_system(programs), repository=name, tag="latest", changes=changes)
        yield f"{name}:latest"
    finally:
        # SAM builds an image with its emulator on top, and leaves containers behind if it is interrupted.
        for built in client.images.list():
            if any(tag.startswith(f"{name}:") for tag in built.tags):
                for container in client.containers.list(all=True, filters={"ancestor": built.id}):
                    with contextlib.suppress(docker.errors.APIError):
                        container.remove(force=True)
                with contextlib.suppress(docker.errors.APIError):
                    client.images.remove(built.id, force=True)
        client.close()


def root_file_system(programs):
    """A tar archive: a shell, which SAM needs to build its image, and the libraries that the programs link."""
    if not pathlib.Path(BUSYBOX).is_file():
        raise Failure(f"{BUSYBOX}, which the image needs, is missing: install Debian's package busybox-static")
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
        for library in sorted(libraries(programs)):
            # Under the name that the loader looks for, even if it is a link.
            tar.add(os.path.realpath(library), library.lstrip("/"))
    return archive.getvalue()


def libraries(programs):
    """The paths of all libraries that the programs link, the loader among them."""
    found = set()
    for program in programs:
        listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        found.update(re.findall(r"(/\S+) \(0x", listed))
    return found


class Forwarder:
    """Forwards connections from the containers' network to a port of the loopback address."""

    def __init__(self, host, port):
        class Connection(socketserver.BaseRequestHandler):
            def handle(self):
                with socket.create_connection(("127.0.0.1", port)) as there:
                    back = threading.Thread(target=pass_on, args=(there, self.request), daemon=True)
                    back.start()
                    pass_on(self.request, there)
                    back.join()

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads, block_on_close, allow_reuse_address = True, False, True

        self.server = Server((host, 0), Connection)
        self.host, self.port = self.server.server_address
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def pass_on(source, destination):
    """Copies data until the source closes."""
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            destination.sendall(data)
    with contextlib.suppress(OSError):
        destination.shutdown(socket.SHUT_WR)
