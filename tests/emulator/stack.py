"""Deploys and removes the stack as an operator does."""

import platform
import time

from botocore.exceptions import ClientError

from cloud import BUCKET, STACK
from packing import pack
from processes import Failure

CAPABILITIES = ("CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND")


def expect(condition, otherwise):
    """Fails with the sentence `otherwise` if the condition is false."""
    if not condition:
        raise Failure(otherwise)


def eventually(look, otherwise, seconds=300):
    """Waits for a true result of `look`, and returns it. Without `seconds`, the time limit suits a busy machine."""
    deadline = time.monotonic() + seconds
    while not (result := look()):
        expect(time.monotonic() < deadline, otherwise)
        time.sleep(0.2)
    return result


class Stack:
    """The CloudFormation stack of the service. It does not exist at first."""

    def __init__(self, account):
        self.account = account
        self.formation = account.client("cloudformation")
        # The folder with the files that `sam build` would write.
        self.built = account.folder / "built"
        self.parameters = {
            "Architecture": {"aarch64": "arm64"}.get(platform.machine(), platform.machine()),
            "DashboardUrl": "https://dashboard.example",
            "UpstreamBaseUrl": account.provider,
            "NamesBaseUrl": account.provider,
            "AlarmEmail": "operator@example.com",
        }

    def package(self):
        """Packs the development builds, and uploads them with a template that references them."""
        pack(self.built)
        ended = self.account.sam(
            "package", "--template-file", "template.yaml", "--s3-bucket", BUCKET, "--output-template-file", "packaged.yaml",
            folder=self.built,
        )
        expect(ended.returncode == 0, f"sam package fails: {ended.stderr}")
        self.account.client("s3").upload_file(str(self.built / "packaged.yaml"), BUCKET, "template.yaml")

    def deploy(self, **parameters):
        """Runs `sam deploy` and returns the completed process."""
        given = [f"{name}={value}" for name, value in {**self.parameters, **parameters}.items()]
        return self.account.sam(
            "deploy", "--template-file", "template.yaml", "--stack-name", STACK, "--s3-bucket", self.account.bucket, "--no-progressbar",
            "--no-fail-on-empty-changeset", "--capabilities", *CAPABILITIES, "--parameter-overrides", *given,
            folder=self.built,
        )

    def create(self, **parameters):
        """Creates the stack. Fails with the reasons of CloudFormation."""
        ended = self.deploy(**parameters)
        expect(ended.returncode == 0, f"sam deploy fails: {ended.stderr}{self.reasons()}")
        expect(self.account.status() == "CREATE_COMPLETE", f"the stack is {self.account.status()}")
        self.account.stage_path = f"/_aws/execute-api/{self.account.outputs()['ApiId']}/live"

    def refusal(self, parameters):
        """Returns CloudFormation's reason for refusing these parameters, or an empty text if it accepts them. Omits parameters that are None."""
        given = {name: value for name, value in parameters.items() if value is not None}
        try:
            self.formation.create_stack(
                StackName="refused",
                TemplateURL=f"{self.account.url}/{BUCKET}/template.yaml",
                Capabilities=CAPABILITIES,
                Parameters=[{"ParameterKey": name, "ParameterValue": value} for name, value in given.items()],
            )
        except ClientError as error:
            return error.response["Error"]["Message"]
        return ""

    def create_beside(self, name, template):
        """Creates another stack from a template in infra/, and returns its outputs."""
        body = (self.built / "infra" / template).read_text()
        self.formation.create_stack(StackName=name, TemplateBody=body, Capabilities=CAPABILITIES)
        self.formation.get_waiter("stack_create_complete").wait(StackName=name, WaiterConfig={"Delay": 1})
        [stack] = self.formation.describe_stacks(StackName=name)["Stacks"]
        return {output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", [])}

    def events(self):
        pages = self.formation.get_paginator("describe_stack_events").paginate(StackName=STACK)
        return [event for page in pages for event in page["StackEvents"]]

    def reasons(self):
        """Returns the reasons of all failures, one per line."""
        failed = [event for event in self.events() if event["ResourceStatus"].endswith("_FAILED")]
        return "".join(f"\n  {event['LogicalResourceId']}: {event.get('ResourceStatusReason')}" for event in failed)

    def delete(self):
        self.formation.delete_stack(StackName=STACK)
        eventually(lambda: self.account.status() is None, "the stack is not deleted")
