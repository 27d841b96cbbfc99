#!/usr/bin/env python3
"""Runs MiniStack with the parts of AWS that this project's template uses and MiniStack lacks.

Every patch replaces a private function of MiniStack, so it fits exactly one version. The comment above a patch says how AWS and
MiniStack differ. The remaining differences are in `differences.py`.

    GATEWAY_PORT=4566 BIND_HOST=127.0.0.1 python patched_ministack.py
"""

import contextvars
import importlib.metadata
import json
import pathlib
import re
import secrets
import sys
import time
import urllib.parse
from datetime import date, datetime, timedelta, timezone

# The patches fit this version only.
[VERSION] = re.findall("^ministack==(.+)$", pathlib.Path(__file__).with_name("requirements.txt").read_text(), re.MULTILINE)
INSTALLED = importlib.metadata.version("ministack")
if INSTALLED != VERSION:
    sys.exit(f"the patches of MiniStack fit version {VERSION}, but {INSTALLED} is installed: check each patch")

import ministack.app as server
import ministack.core.iam_actions as actions
import ministack.core.iam_evaluator as evaluator
import ministack.services.apigateway_v1 as gateway
import ministack.services.cloudformation.provisioners as formation
import ministack.services.eventbridge as eventbridge
import ministack.services.scheduler as scheduler
import ministack.services.sqs as sqs

from cloud import OTHER_REGION, REGION

EXTENSION = "x-amazon-apigateway-"


def replaces(module, name):
    """Replaces a function of a module. The replacement receives the original as its first argument."""

    def replace(replacement):
        original = getattr(module, name)

        def patched(*arguments, **named):
            return replacement(original, *arguments, **named)

        setattr(module, name, patched)
        return patched

    return replace


def handles(resource_type, operation, name):
    """Replaces a function that MiniStack's CloudFormation calls through its table of handlers."""

    def replace(replacement):
        patched = replaces(formation, name)(replacement)
        formation._RESOURCE_HANDLERS[resource_type][operation] = patched
        return patched

    return replace


# --- The API's definition -------------------------------------------------------------------------------------------------
# MiniStack imports paths, methods and integrations of an OpenAPI document. AWS also imports ANY methods, declared parameters,
# gateway responses, and the source of API keys.


@replaces(gateway, "_import_rest_api")
def import_api(original, document, *rest):
    api = original(document, *rest)
    for response_type, response in document.get(f"{EXTENSION}gateway-responses", {}).items():
        status, _, body = gateway._put_gateway_response(api, response_type, response)
        if status >= 400:
            raise ValueError(f"gateway response {response_type}: {body!r}")
    return api


@replaces(gateway, "_import_path_item")
def import_path(original, api, path, item, schemes=None, security=None):
    original(api, path, item, schemes, security)
    if f"{EXTENSION}any-method" in item:
        [resource] = [resource for resource in gateway._resources[api].values() if resource["path"] == path]
        gateway._import_operation(api, resource["id"], "ANY", item[f"{EXTENSION}any-method"], schemes, security)


LOCATIONS = {"header": "header", "path": "path", "query": "querystring"}
OF_INTEGRATION = ("cacheKeyParameters", "cacheNamespace")


@replaces(gateway, "_import_operation")
def import_operation(original, api, resource, method, operation, *rest):
    original(api, resource, method, operation, *rest)
    imported = gateway._resources[api][resource]["resourceMethods"][method]
    for parameter in operation.get("parameters", []):
        if location := LOCATIONS.get(parameter.get("in")):
            name = f"method.request.{location}.{parameter['name']}"
            imported["requestParameters"][name] = parameter.get("required", False)
    integration = operation.get(f"{EXTENSION}integration", {})
    for name in OF_INTEGRATION:
        if name in integration:
            imported["methodIntegration"][name] = integration[name]


@handles("AWS::ApiGateway::RestApi", "create", "_apigw_rest_api_create")
def create_api(original, logical_id, properties, stack):
    api, attributes = original(logical_id, properties, stack)
    gateway._rest_apis[api]["apiKeySource"] = properties.get("ApiKeySourceType", "HEADER")
    return api, attributes


# --- Requests to the API --------------------------------------------------------------------------------------------------

# The path of the request as the client sent it.
raw_path_of_request = contextvars.ContextVar("raw_path_of_request", default=None)


# AWS passes a path and its parameters to functions as the client sent them, percent-encoded; MiniStack decodes them.
@replaces(server, "_handle_execute_api_request")
def keep_raw_path(original, host, path, *rest, raw_path=None, **named):
    raw_path_of_request.set((path, raw_path))
    return original(host, path, *rest, raw_path=raw_path, **named)


@replaces(gateway, "handle_execute")
def execute_with_raw_path(original, api, stage, method, path, *rest):
    decoded, raw = raw_path_of_request.get() or (None, None)
    if raw and decoded.endswith(path):
        before = urllib.parse.quote(decoded.removesuffix(path))
        if raw.startswith(before):
            path = raw.removeprefix(before)
    return original(api, stage, method, path, *rest)


# With `ApiKeySourceType: AUTHORIZER`, the authorizer names the API key in `usageIdentifierKey`; MiniStack reads only the
# header. The patches store the key in the context of the authorization, because MiniStack caches the context.
KEY_IN_CONTEXT = "usageIdentifierKey of the authorizer"
api_key_of_request = contextvars.ContextVar("api_key_of_request", default=None)


@replaces(gateway, "_invoke_authorizer_lambda")
async def invoke_authorizer(original, *arguments):
    result = await original(*arguments)
    body = (result or {}).get("body")
    policy = json.loads(body) if isinstance(body, (bytes, str)) else body
    if isinstance(policy, dict) and "usageIdentifierKey" in policy:
        context = {**policy.get("context", {}), KEY_IN_CONTEXT: policy["usageIdentifierKey"]}
        result = {**result, "body": {**policy, "context": context}}
    return result


@replaces(gateway, "_authorize_request_v1")
async def authorize(original, api, *rest):
    error, context = await original(api, *rest)
    context = dict(context or {})
    named = context.pop(KEY_IN_CONTEXT, "")
    api_key_of_request.set(named if gateway._rest_apis[api].get("apiKeySource") == "AUTHORIZER" else None)
    return error, context or None


@replaces(gateway, "_api_key_from_request")
def api_key(original, headers):
    named = api_key_of_request.get()
    return original(headers) if named is None else named


# If a function fails, AWS sends a gateway response; MiniStack sends the function's error to the client.
class IntegrationFailure(Exception):
    """The function failed."""


@replaces(gateway, "_lambda_proxy_response")
def response_of_function(original, result):
    response, error = original(result)
    if error:
        raise IntegrationFailure
    return response, None


@replaces(gateway, "_invoke_lambda_proxy_v1")
async def invoke_function(original, *arguments, **named):
    try:
        return await original(*arguments, **named)
    except IntegrationFailure:
        return gateway._gw_error("INTEGRATION_FAILURE", "Internal server error")


# The bucket policy refuses plain HTTP, but MiniStack serves only HTTP. Marks every request as HTTPS.
@replaces(server, "pin_request_origin")
def request_origin(original, address, _):
    original(address, True)


# --- Stages and usage plans -----------------------------------------------------------------------------------------------


# In the path of a method's settings, "~1" stands for "/". MiniStack does not decode it, so such settings would have no effect.
@replaces(formation, "_apigw_method_settings")
def method_settings(original, settings):
    return {path.replace("~1", "/").replace("//", "/", 1): values for path, values in original(settings).items()}


# MiniStack keeps parameters of type Number as text, but its token bucket needs numbers.
@replaces(formation, "_apigw_throttle")
def throttle(original, properties):
    return {name: float(limit) if name == "rateLimit" else int(limit) for name, limit in original(properties).items()}


# Also converts quotas to numbers, and the limits of methods, whose names MiniStack does not translate.
@replaces(formation, "_apigw_usage_plan_body")
def usage_plan(original, properties):
    plan = original(properties)
    plan["quota"] = {name: int(value) if name == "limit" else value for name, value in plan["quota"].items()}
    for stage in plan["apiStages"]:
        stage["throttle"] = {path: formation._apigw_throttle(limits) for path, limits in stage["throttle"].items()}
    return plan


# On AWS, `GetUsagePlans` with `keyId` returns only the plans of that key.
@replaces(gateway, "_get_usage_plans")
def usage_plans(original, query):
    key = gateway._qp(query, "keyId")
    if not key:
        return original(query)
    plans = [plan for plan in gateway._usage_plans.values() if key in gateway._usage_plan_keys.get(plan["id"], {})]
    return gateway._v1_paginated_response(plans, query)


# AWS refuses a second key with the same value, an unknown key or one of another plan of the stage, and the removal of a key from a plan that
# does not have it.
@replaces(gateway, "_create_api_key")
def create_key(original, key):
    if any(known["value"] == key.get("value") for known in gateway._api_keys.values()):
        return gateway._v1_error("ConflictException", "API Key already exists", 409)
    return original(key)


@replaces(gateway, "_create_usage_plan_key")
def add_to_plan(original, plan, key):
    if key["keyId"] not in gateway._api_keys:
        return gateway._v1_error("NotFoundException", "Invalid API Key identifier specified", 404)
    if any(key["keyId"] in gateway._usage_plan_keys.get(known, {}) for known in gateway._usage_plans):
        return gateway._v1_error("ConflictException", "Usage Plan Key already exists", 409)
    return original(plan, key)


@replaces(gateway, "_delete_usage_plan_key")
def remove_from_plan(original, plan, key):
    if key not in gateway._usage_plan_keys.get(plan, {}):
        return gateway._v1_error("NotFoundException", "Invalid Usage Plan Key identifier specified", 404)
    return original(plan, key)


# On AWS, a deleted key is in no plan.
@replaces(gateway, "_delete_api_key")
def delete_key(original, key):
    for plan in gateway._usage_plans:
        gateway._usage_plan_keys.get(plan, {}).pop(key, None)
    return original(key)


# MiniStack has no `GetUsage`. This patch counts the requests of each key that its limits allow, and responds at once; AWS counts with a
# delay. As on AWS, a key without requests is not in the response.
requests_of_day = {}


@replaces(gateway, "_check_quota")
def count_request(original, key, api, stage):
    error = original(key, api, stage)
    if key and not error:
        for plan, _, _ in gateway._usage_plans_for_key(key["id"], api, stage):
            day = plan, key["id"], datetime.now(timezone.utc).date()
            requests_of_day[day] = requests_of_day.get(day, 0) + 1
    return error


def get_usage(plan, query):
    if plan not in gateway._usage_plans:
        return gateway._v1_error("NotFoundException", "Invalid Usage Plan identifier specified", 404)
    key, first, last = (gateway._qp(query, name) for name in ("keyId", "startDate", "endDate"))
    day, usage = date.fromisoformat(first), []
    left = gateway._usage_plans[plan].get("quota", {}).get("limit", 0)
    while day <= date.fromisoformat(last):
        used = requests_of_day.get((plan, key, day), 0)
        left -= used
        usage.append([used, left])
        day += timedelta(days=1)
    values = {key: usage} if any(used for used, _ in usage) else {}
    return gateway._v1_response({"usagePlanId": plan, "startDate": first, "endDate": last, "values": values})


@replaces(gateway, "handle_request")
async def control_plane(original, method, path, headers, body, query):
    if usage := re.fullmatch("/usageplans/([^/]+)/usage", path):
        return get_usage(usage[1], query)
    return await original(method, path, headers, body, query)


# --- Deployments ----------------------------------------------------------------------------------------------------------


# AWS refuses to create a log group whose name exists, and generates a new name for every stack. MiniStack takes over an existing
# group, and always generates the same name.
@handles("AWS::Logs::LogGroup", "create", "_cwlogs_create")
def create_log_group(original, logical_id, properties, stack):
    name = properties.get("LogGroupName") or f"{stack}-{logical_id}-{secrets.token_hex(6)}"
    if name in formation._cw_logs._log_groups:
        raise ValueError(f"the log group {name} already exists")
    return original(logical_id, {**properties, "LogGroupName": name}, stack)


@handles("AWS::Logs::LogGroup", "update", "_cwlogs_update")
def update_log_group(original, name, before, after, *rest):
    return original(name, before, {"LogGroupName": name, **after}, *rest)


# API Gateway refuses a stage with an access log until the account has a role for logs.
@handles("AWS::ApiGateway::Stage", "create", "_apigw_stage_create")
def create_stage(original, logical_id, properties, stack):
    role = gateway._account_settings.get("settings", {}).get("cloudwatchRoleArn")
    if "AccessLogSetting" in properties and not role:
        raise ValueError("CloudWatch Logs role ARN must be set in account settings to enable logging")
    return original(logical_id, properties, stack)


# CloudFormation cannot delete a protected table; MiniStack can.
@handles("AWS::DynamoDB::Table", "delete", "_ddb_delete")
def delete_table(original, name, properties):
    if formation._dynamodb._tables.get(name, {}).get("DeletionProtectionEnabled"):
        raise ValueError(f"the table {name} is protected against deletion")
    return original(name, properties)


# MiniStack has no saved queries, and refuses a template with one. This patch skips them.
formation._RESOURCE_HANDLERS["AWS::Logs::QueryDefinition"] = {
    "create": lambda logical_id, properties, stack: (f"{stack}-{logical_id}", {}),
    "delete": lambda name, properties: None,
}


# MiniStack has AWS::IAM::Policy, but not the inline policy of one role.
def inline(properties):
    return {**properties, "Roles": [properties["RoleName"]]}


formation._RESOURCE_HANDLERS["AWS::IAM::RolePolicy"] = {
    "create": lambda logical_id, properties, stack: formation._iam_policy_create(logical_id, inline(properties), stack),
    "update": lambda name, before, after, stack: formation._iam_policy_update(name, inline(before), inline(after), stack),
    "delete": lambda name, properties: formation._iam_policy_delete(name, inline(properties)),
}


# AWS generates unique names. MiniStack generates the same names in every region, but the names of roles and buckets must differ
# between regions.
@replaces(formation, "_physical_name")
def physical_name(original, stack, *rest, **named):
    region = formation.get_region()
    return original(stack if region == REGION else f"{stack}-{region}", *rest, **named)


# On AWS, CloudFormation lacks budgets in some regions, and a budget's name is unique in the account. MiniStack
# refuses a template with a budget.
budgets = set()


def create_budget(logical_id, properties, stack):
    if formation.get_region() == OTHER_REGION:
        raise ValueError("Template format error: Unrecognized resource types: [AWS::Budgets::Budget]")
    name = properties["Budget"].get("BudgetName") or f"{logical_id}-{secrets.token_hex(6)}"
    if name in budgets:
        raise ValueError(f"the budget {name} already exists")
    budgets.add(name)
    return name, {}


formation._RESOURCE_HANDLERS["AWS::Budgets::Budget"] = {
    "create": create_budget,
    "delete": lambda name, properties: budgets.discard(name),
}


# On AWS, the names of dashboards are also unique in an account; in MiniStack, only in a region.
@handles("AWS::CloudWatch::Dashboard", "create", "_cw_dashboard_create")
def create_dashboard(original, logical_id, properties, stack):
    name = properties["DashboardName"]
    if any(key[-1] == name for key in formation._cw._dashboards._data):
        raise ValueError(f"the dashboard {name} already exists")
    return original(logical_id, properties, stack)


# --- Events and queues ----------------------------------------------------------------------------------------------------


# AWS creates the event bus of a partner only for a source that the partner has created, and under the name of the source. MiniStack
# ignores the source.
@handles("AWS::Events::EventBus", "create", "_eb_event_bus_create")
def create_bus(original, logical_id, properties, stack):
    source = properties.get("EventSourceName")
    if source and source not in {known["Name"] for known in eventbridge._partner_event_sources.values()}:
        raise ValueError(f"Event source {source} does not exist.")
    if source and properties.get("Name") != source:
        raise ValueError(f"the event bus of the source {source} has the name {properties.get('Name')}")
    return original(logical_id, properties, stack)


# MiniStack has archives, but CloudFormation cannot create them.
def create_archive(logical_id, properties, stack):
    name = properties.get("ArchiveName") or f"{stack}-{logical_id}-{secrets.token_hex(6)}"
    pattern = properties.get("EventPattern", "")
    archive = {
        "ArchiveName": name,
        "EventSourceArn": properties["SourceArn"],
        "EventPattern": pattern if isinstance(pattern, str) else json.dumps(pattern),
        "RetentionDays": int(properties.get("RetentionDays", 0)),
    }
    status, _, body = eventbridge._create_archive(archive)
    if status >= 400:
        raise ValueError(f"the archive {name}: {body!r}")
    return name, {"ArchiveName": name, "Arn": json.loads(body)["ArchiveArn"]}


formation._RESOURCE_HANDLERS["AWS::Events::Archive"] = {
    "create": create_archive,
    "delete": lambda name, properties: eventbridge._delete_archive({"ArchiveName": name}),
}


# A rule may send to a queue only if the policy of the queue allows it. Otherwise AWS sends the event to the dead-letter queue of the
# target, under the same condition. MiniStack ignores both.
@replaces(eventbridge, "_invoke_target")
def send_to_queue(original, target, event, rule, *rest, **named):
    if ":sqs:" not in target.get("Arn", ""):
        return original(target, event, rule, *rest, **named)
    for queue in (target["Arn"], target.get("DeadLetterConfig", {}).get("Arn", "")):
        if sqs.queue_policy_allows(queue, "events.amazonaws.com", rule["Arn"], event["Account"]):
            return original({**target, "Arn": queue}, event, rule, *rest, **named)
    return None


# AWS lets a function consume a queue only if its role may receive and delete messages, and if a message stays invisible for at least as
# long as the function may run. MiniStack checks neither.
CONSUMER_ACTIONS = ("sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes")


@handles("AWS::Lambda::EventSourceMapping", "create", "_lambda_esm_create")
def create_mapping(original, logical_id, properties, stack):
    queue = sqs._queue_by_arn(properties["EventSourceArn"])
    function = formation._lambda_function_for_cfn_ref(properties["FunctionName"])[0]["config"]
    [_, _, _, region, account, _] = properties["EventSourceArn"].split(":")
    policies = evaluator._gather_role_policies(function["Role"].rsplit("/", 1)[1], account)
    for action in CONSUMER_ACTIONS:
        attempt = evaluator.EvalContext(function["Role"], "AssumedRole", account, action, properties["EventSourceArn"], region)
        if evaluator.evaluate(attempt, policies).decision != "Allow":
            raise ValueError(f"the role of {function['FunctionName']} does not allow {action} on {properties['EventSourceArn']}")
    if int(queue["attributes"]["VisibilityTimeout"]) < int(function["Timeout"]):
        raise ValueError(f"Queue visibility timeout is less than function timeout: {function['Timeout']} seconds")
    return original(logical_id, properties, stack)


# MiniStack cannot move messages out of a dead-letter queue. As on AWS, the moved messages are new ones; AWS moves them in the background.
# Without `DestinationArn`, each returns to its former queue, and AWS refuses messages that had none.
def start_move(request, _):
    source, now = request["SourceArn"], time.time()
    if not any(source in queue["attributes"].get("RedrivePolicy", "") for queue in sqs._queues.values()):
        raise sqs._Err("InvalidParameterValue", "Source queue must be configured as a Dead Letter Queue.")
    with sqs._queues_lock:
        dead = sqs._queue_by_arn(source)
        visible = [message for message in dead["messages"] if message["visible_at"] <= now]
        for message in visible:
            destination = request.get("DestinationArn") or message["sys"].get("DeadLetterQueueSourceArn")
            if not destination:
                break
            dead["messages"].remove(message)
            fresh = {"receive_count": 0, "receipt_handle": None, "first_receive_at": None, "sent_at": now, "visible_at": now}
            kept = {name: value for name, value in message["sys"].items() if name != "DeadLetterQueueSourceArn"}
            sqs._queue_by_arn(destination)["messages"].append({**message, **fresh, "id": secrets.token_hex(16), "sys": kept})
    sqs.esm_wake.set()
    return {"TaskHandle": secrets.token_hex(16)}


sqs._HANDLERS["StartMessageMoveTask"] = start_move


# A policy can allow the rows of some partition keys only. MiniStack lacks the keys in its conditions. This patch adds those of requests and
# transactions that name rows; the template has no such condition on other requests.
@replaces(actions, "dynamodb_service_context")
def context_of_request(original, body):
    request = json.loads(body or b"{}")
    named = [row for item in request.get("TransactItems", [{"": request}]) for row in item.values()]
    keys = [(row.get("Key") or row.get("Item") or {}).get("pk", {}).get("S") for row in named]
    leading = [key for key in keys if key is not None]
    return original(body) | ({"dynamodb:LeadingKeys": leading} if leading else {})


# --- Schedules and alarms -------------------------------------------------------------------------------------------------


# AWS's scheduler replaces `<aws.scheduler.scheduled-time>` in the input of a target; MiniStack does not.
@replaces(eventbridge, "_invoke_target")
def invoke_target(original, target, event, *rest, **named):
    if event.get("Source") == "aws.scheduler" and "Input" in target:
        time = datetime.fromtimestamp(event["Time"], timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        target = {**target, "Input": target["Input"].replace("<aws.scheduler.scheduled-time>", time)}
    return original(target, event, *rest, **named)


# Saves time: the first run of a schedule is due at once instead of after its interval, which can be five minutes.
@replaces(scheduler, "_tick_schedules")
def run_schedules(original):
    for schedule in list(scheduler._schedules._data):
        scheduler._schedule_last_fired.setdefault(schedule, 0)
    original()


# MiniStack refuses alarms on metric math. This patch creates them without their metrics, so they are never evaluated.
@replaces(formation, "_cw_metric_alarm_record")
def alarm(original, name, properties):
    if "Metrics" in properties:
        properties = {**properties, "MetricName": "metric math", "Namespace": "metric math"}
        del properties["Metrics"]
    return original(name, properties)


if __name__ == "__main__":
    # Removes the arguments of this program, which MiniStack would parse.
    sys.argv = sys.argv[:1]
    server.main()
