"""The properties of AWS that MiniStack lacks, each with the reason why the rehearsal does not need it. Everything else must work.

The rehearsal fails if an entry is no longer true, so these lists have no superfluous entries.
"""

import dataclasses
import typing

from botocore.exceptions import ClientError

from cloud import STACK
from payments import SOURCE

# Checks of `cargo admin check` that fail on MiniStack.
FAILED_CHECKS = {
    "compression GET /v1/items": "MiniStack compresses nothing; the local cloud does, and its tests cover it",
}


@dataclasses.dataclass
class Difference:
    """A property of AWS that MiniStack lacks."""

    what: str
    reason: str
    # Returns whether MiniStack has the property after all.
    is_there: typing.Callable


def has_access_log(account):
    group = account.outputs()["AccessLog"]
    return bool(account.client("logs").filter_log_events(logGroupName=group)["events"])


def refuses_raw_characters(account):
    return account.get("/?raw=|").status != 200


def has_metric_math(account):
    alarms = account.client("cloudwatch").describe_alarms()["MetricAlarms"]
    return any(alarm.get("Metrics") for alarm in alarms)


def has_saved_queries(account):
    try:
        return bool(account.client("logs").describe_query_definitions()["queryDefinitions"])
    except ClientError:
        return False


def delays_new_keys(account):
    account.admin("account", "set", "new", "--tier", "pro", "--paid-until", "2100-01-01")
    key = account.admin("key", "issue", "new", "--label", "first").strip()
    status = account.get("/v1/mayor", key).status
    account.admin("account", "delete", "new")
    return status != 200


def refuses_events_of_others(account):
    entry = {"Source": "other", "DetailType": "other", "Detail": "{}", "EventBusName": SOURCE}
    return account.client("events").put_events(Entries=[entry])["FailedEntryCount"] > 0


def deletes_with_sam(account):
    return account.sam("delete", "--stack-name", STACK, "--no-prompts").returncode == 0


DIFFERENCES = [
    Difference("the access log", "tests/tools/sam/template asserts its format", has_access_log),
    Difference("refusing raw characters", "AWS's front end refuses them before the API sees the request", refuses_raw_characters),
    Difference("saved queries", "tests/tools/sam/template validates them", has_saved_queries),
    Difference("alarms on metric math", "tests/tools/sam/template asserts their metrics", has_metric_math),
    Difference(
        "the delay until a new key of API Gateway works",
        "its tests set the delay of the local cloud; infra/README.md, Assumptions about AWS, measures it",
        delays_new_keys,
    ),
    Difference(
        "refusing events of others on the event bus of a partner",
        "the rehearsal sends events in place of Stripe, which no account of AWS could do",
        refuses_events_of_others,
    ),
    Difference(
        "`sam delete`",
        "it accepts only AWS's own addresses for the template of the nested stack; the rehearsal calls CloudFormation instead",
        deletes_with_sam,
    ),
]
