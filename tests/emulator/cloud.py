"""An AWS account that MiniStack emulates, with the simulated game as the provider, and an operator's tools for it."""

import contextlib
import copy
import os
import pathlib
import shutil
import subprocess
import sys

import boto3
import botocore.exceptions

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tools" / "sam"))

import processes
from processes import TARGET, Failure, Process, free_port
from services import request

# A run leaves only its logs in this folder.
FOLDER = TARGET / "emulator"
processes.LOGS = FOLDER / "logs"

# No tool has this region as its default, so a step fails if a setting is missing.
REGION = "eu-central-1"
# A second region, in which CloudFormation lacks the type AWS::Budgets::Budget.
OTHER_REGION = "eu-central-2"
SAM = TARGET / "sam" / "venv" / "bin" / "sam"
ADMIN = TARGET / "debug" / "admin"
# The bucket for deployments in the first region. In another region, the region's name is appended.
BUCKET = "artifacts"
STACK = "live"

# How long a command may take, in seconds.
PATIENCE = 120


class Cloud:
    """An emulated AWS account."""

    def __init__(self, port, provider, folder):
        self.url = f"http://127.0.0.1:{port}"
        self.provider = provider
        self.folder = folder
        self.bucket = BUCKET
        # To MiniStack, the key `test` is the root user of the account.
        self.environment = {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": "/dev/null",
            "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
            "HOME": str(folder),
            "TMPDIR": str(folder),
            "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1",
            "PATH": os.environ["PATH"],
            "SAM_CLI_TELEMETRY": "0",
        }
        # The path under which MiniStack serves the deployed stage.
        self.stage_path = None
        # The credentials of `cargo admin`.
        self.operator = {}
        self.session = boto3.Session("test", "test", region_name=REGION)

    def in_region(self, region):
        """Returns the same account in another region, and creates a bucket for deployments there."""
        other = copy.copy(self)
        other.environment = self.environment | {"AWS_REGION": region, "AWS_DEFAULT_REGION": region}
        other.session = boto3.Session("test", "test", region_name=region)
        other.bucket = f"{BUCKET}-{region}"
        other.create_bucket()
        return other

    def create_bucket(self):
        """Creates the bucket for deployments. Lambda accepts only code from a bucket in its own region."""
        place = {"LocationConstraint": self.session.region_name}
        self.client("s3").create_bucket(Bucket=self.bucket, CreateBucketConfiguration=place)

    def client(self, service):
        return self.session.client(service, endpoint_url=self.url)

    def outputs(self):
        [stack] = self.client("cloudformation").describe_stacks(StackName=STACK)["Stacks"]
        return {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}

    def table_arn(self, table):
        return self.client("dynamodb").describe_table(TableName=table)["Table"]["TableArn"]

    def status(self):
        """The status of the stack, or None if there is no stack."""
        try:
            return self.client("cloudformation").describe_stacks(StackName=STACK)["Stacks"][0]["StackStatus"]
        except botocore.exceptions.ClientError:
            return None

    def get(self, path, key=None, **headers):
        """Returns the response of the deployed API. The path is sent unchanged."""
        headers = {**headers, **({"X-API-Key": key} if key else {})}
        return request(self.url, "GET", self.stage_path + path, headers)

    def run(self, *command, folder=None, given=None, environment=None, log):
        """Runs a command and returns the completed process. Its output is appended to the log."""
        ended = subprocess.run(
            [str(part) for part in command],
            cwd=folder or self.folder,
            env=self.environment | (environment or {}),
            input=given,
            text=True,
            capture_output=True,
            timeout=PATIENCE,
        )
        with open(processes.LOGS / f"{log}.log", "a") as output:
            output.write(f"$ {' '.join(map(str, command))}\n{ended.stdout}{ended.stderr}\n")
        return ended

    def sam(self, *arguments, folder=None):
        return self.run(SAM, *arguments, folder=folder, log="sam")

    def admin(self, *arguments, given=None):
        """Runs `cargo admin` for the stack as the operator, and returns its standard output."""
        ended = self.run(ADMIN, *arguments, "--stack", STACK, given=given, environment=self.operator, log="admin")
        if ended.returncode != 0:
            raise Failure(f"cargo admin {' '.join(map(str, arguments))} failed: {ended.stderr}")
        return ended.stdout


@contextlib.contextmanager
def provider():
    """Starts a simulated game with a fire sale to record, and yields its URL. Tries several seeds, because a game may have no sale now."""
    for seed in range(1, 100):
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        with Process("provider", [TARGET / "debug" / "simulator", "--port", port, "--seed", seed]) as game:
            game.wait_for_port(port, seconds=20)
            if request(url, "GET", "/v2/skyblock/firesales").json()["sales"]:
                yield url
                return
    raise Failure("the simulated game has no fire sale with any seed")


@contextlib.contextmanager
def cloud():
    """Starts an emulated account, and yields it. The emulator stops when the `with` block ends."""
    shutil.rmtree(processes.LOGS, ignore_errors=True)
    folder = FOLDER / "run"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    port = free_port()
    with contextlib.ExitStack() as stack:
        account = Cloud(port, stack.enter_context(provider()), folder)
        environment = account.environment | {
            "GATEWAY_PORT": str(port),
            # By default, MiniStack listens on all interfaces.
            "BIND_HOST": "127.0.0.1",
            "MINISTACK_REGION": REGION,
            # Enforces signatures and IAM policies.
            "AUTH": "true",
            "LOG_LEVEL": "INFO",
            "S3_DATA_DIR": str(folder / "s3"),
            "STATE_DIR": str(folder / "state"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        command = [sys.executable, HERE / "patched_ministack.py"]
        emulator = stack.enter_context(Process("MiniStack", command, environment))
        emulator.wait_for_port(port, seconds=30)
        account.create_bucket()
        yield account
    shutil.rmtree(folder, ignore_errors=True)
