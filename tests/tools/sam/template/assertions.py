#!/usr/bin/env python3
"""Asserts properties of the template after SAM's translation: rights, protection, names, and settings that neither the local cloud nor the
emulator of AWS has. tests/service compares routes, keys, caches and limits with the table of routes and the pages.

    python assertions.py template.yaml
"""

import json
import re
import sys
import unittest

from deployed import ACCOUNT, BUDGET, FILES, FIREWALL, FUNCTIONS, MONITORING, NOTHING, RESOURCES, SOURCE
from deployed import attribute, either, of_type, reference, text_with
from monitoring import Monitoring  # noqa: F401 (unittest also runs it)

CODES = {400: "BAD_REQUEST", 401: "UNAUTHORIZED", 403: "FORBIDDEN", 404: "NOT_FOUND", 429: "RATE_LIMITED", 500: "INTERNAL_ERROR"}
# The variables in the access log, from AWS and the authorizer. An unknown variable would leave its field empty without an error.
LOGGED = {
    "requestTimeEpoch", "requestId", "identity.sourceIp", "httpMethod", "resourcePath", "status", "responseLength", "responseLatency",
    "integrationLatency", "identity.apiKeyId", "error.responseType", "integration.requestId", "authorizer.requestId", "authorizer.latency",
    "authorizer.account", "authorizer.tier",
}
BUCKET = "arn:${AWS::Partition}:s3:::${Files.Outputs.Bucket}"


def files(*names):
    """Returns the rights of a recorder that writes these public files. Without the right to list, a missing file would be a 403."""
    return {BUCKET: {"s3:ListBucket"}} | {f"{BUCKET}/{name}": {"s3:GetObject", "s3:PutObject"} for name in names}


def listings(*actions):
    """Returns the rights on the running auctions."""
    bucket = "arn:${AWS::Partition}:s3:::${ListingsBucket}"
    return {bucket: {"s3:ListBucket"}, f"{bucket}/listings": set(actions)}


# Every recorder reads and writes the heartbeat of its feed. The rows of mayors need no further rights.
HEARTBEAT = {"dynamodb:GetItem", "dynamodb:PutItem"}
READS = {"History": {"dynamodb:Query"}}
READS_BATCHES = {"History": {"dynamodb:BatchGetItem", "dynamodb:Query"}}
WRITES_BATCHES = {"History": HEARTBEAT | {"dynamodb:BatchWriteItem", "dynamodb:UpdateItem"}}
KEEPS_EVENTS = {"DeadLetters": {"sqs:SendMessage"}}
API_GATEWAY = "arn:${AWS::Partition}:apigateway:${AWS::Region}::"


def plans(part, action):
    """Returns the right to this part of the usage plans of this stack."""
    return {f"{API_GATEWAY}/usageplans/${{{plan}UsagePlan}}/{part}": {action} for plan in ("Starter", "Pro", "Free")}


READS_USAGE = plans("usage", "apigateway:GET")
WRITES_TRAIL = {"AccountsLog": {"logs:CreateLogStream", "logs:PutLogEvents"}}
# The rights include all keys of API Gateway, but only the plans of this stack.
MANAGES_ACCOUNTS = READS_USAGE | WRITES_TRAIL | plans("keys", "apigateway:POST") | {
    "Access": {"dynamodb:DeleteItem", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Scan"},
    "Access/index/ended": {"dynamodb:Query"},
    f"{API_GATEWAY}/apikeys": {"apigateway:GET", "apigateway:POST"},
    f"{API_GATEWAY}/apikeys/*": {"apigateway:DELETE"},
}
# No rights on the keys of API Gateway.
MANAGES_KEYS = READS_USAGE | WRITES_TRAIL | {"Access": {"dynamodb:GetItem", "dynamodb:PutItem"}, "Access/index/ended": {"dynamodb:Query"}}
# Payments create keys of API Gateway, but never delete any. Of the table, they can use only the rows of LEADING_KEYS.
APPLIES_PAYMENTS = WRITES_TRAIL | plans("keys", "apigateway:POST") | {
    "Access": {"dynamodb:GetItem", "dynamodb:PutItem"},
    f"{API_GATEWAY}/apikeys": {"apigateway:GET", "apigateway:POST"},
    "PaymentsQueue": {"sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"},
}
LEADING_KEYS = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["account#*", "subscription#*"]}}
# For each function that does more than query History: the allowed actions by resource.
RIGHTS = {
    "accounts": MANAGES_ACCOUNTS,
    "keys": MANAGES_KEYS,
    "usage": READS_USAGE | {"Access": {"dynamodb:GetItem"}},
    "authorizer": {"Access": {"dynamodb:GetItem"}},
    "payments": APPLIES_PAYMENTS,
    "bazaar-candles-all": READS_BATCHES,
    "status": READS_BATCHES,
    "record-mayor": {"History": HEARTBEAT} | KEEPS_EVENTS,
    "record-fire-sales": {"History": HEARTBEAT | {"dynamodb:UpdateItem"}},
    "auctions-listings": listings("s3:GetObject"),
    "record-auctions": WRITES_BATCHES | listings("s3:GetObject", "s3:PutObject") | files("lowestbin.json", "lowestbin.json.gz", "prices.json"),
    "record-bazaar": WRITES_BATCHES | files("bazaar.json", "prices.json"),
    "record-candles": {"History": HEARTBEAT | {"dynamodb:BatchGetItem", "dynamodb:Query", "dynamodb:UpdateItem"}}
    | KEEPS_EVENTS
    | files("auction_averages/*", "auction_averages_lbin/*", "days/*", "names.json"),
}
WRITES_LOG = {"Effect": "Allow", "Action": ["logs:CreateLogStream", "logs:PutLogEvents"], "Resource": attribute("FunctionLog", "Arn")}
# These actions support no narrower resource.
WRITES_TRACES = {"Effect": "Allow", "Action": ["xray:PutTraceSegments", "xray:PutTelemetryRecords"], "Resource": "*"}
# The events that change accounts.
PAYMENTS = [f"customer.subscription.{change}" for change in ("created", "updated", "deleted", "paused", "resumed")] + ["invoice.paid"]
# The time of an event is a whole minute, under which the run stores its data. Candles are built two minutes after an interval ends, when
# the last minute of the interval is recorded.
SCHEDULES = {
    "record-auctions": "cron(* * * * ? *)",
    "record-bazaar": "cron(* * * * ? *)",
    "record-candles": "cron(2/5 * * * ? *)",
    "record-fire-sales": "cron(* * * * ? *)",
    "record-mayor": "rate(5 minutes)",
}
# The only schedule that can be off: it finds subscriptions that no event has renewed.
CHECK = "rate(1 day)"
API = RESOURCES["Api"]["Properties"]["Body"]
STAGE = RESOURCES["ApiStage"]["Properties"]


def arn(name):
    """Returns the ARN of a resource of the stack. The operator may replace a table, which also changes the ARN of its index."""
    own = attribute(name, "Arn")
    table, slash, index = name.partition("/")
    if table in ("History", "Access"):
        other = "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${%sTableName}" % table
        own = text_with("${%s.Arn}/%s" % (table, index)) if index else own
        return either(f"Has{table}Table", text_with(other + slash + index), own)
    if "FreeUsagePlan" in name:
        return either("FreePlanIsOn", text_with(name), NOTHING)
    # Only the scheduler invokes this function.
    if name == "AccountsFunction":
        return either("HasPayments", own, NOTHING)
    return text_with(name) if ":" in name else own


class Api(unittest.TestCase):
    def test_every_setting_has_its_limits_and_is_of_a_method_that_exists(self):
        keyed = {path for path, item in API["paths"].items() if "api_key" in str(item)}
        limited = set()
        for setting in STAGE["MethodSettings"]:
            condition, setting, _ = setting.get("Fn::If", [None, setting, NOTHING])
            path = setting["ResourcePath"].replace("~1", "/").replace("//", "/")
            # The settings of a method inherit no values, and each property is a patch of the stage, so every setting has exactly these.
            properties = {"ResourcePath", "HttpMethod", "CachingEnabled", "ThrottlingRateLimit", "ThrottlingBurstLimit"}
            self.assertEqual(set(setting) - {"CacheTtlInSeconds"}, properties, path)
            if path != "/*":
                exists_if, item, _ = API["paths"][path].get("Fn::If", [None, API["paths"][path], NOTHING])
                self.assertEqual(condition, exists_if, path)
                self.assertIn(setting["HttpMethod"].lower(), item, path)
            limits = (setting["ThrottlingRateLimit"], setting["ThrottlingBurstLimit"])
            if limits == (reference("RouteRateLimit"), reference("RouteBurstLimit")):
                limited.add(path)
        self.assertEqual(limited, keyed)

    def test_the_stage_is_the_only_one_and_follows_the_parameters(self):
        # Without OpenApiVersion, SAM adds a stage named Stage, which has no limits and no log.
        self.assertEqual(set(of_type("AWS::ApiGateway::Stage")), {"ApiStage"})
        for deployment in of_type("AWS::ApiGateway::Deployment").values():
            self.assertNotIn("StageName", deployment["Properties"])
        self.assertIs(SOURCE["Resources"]["Api"]["Properties"]["AlwaysDeploy"], True)
        # If the property were absent instead of false, the stage cache could stay on without cache keys.
        self.assertEqual(STAGE["CacheClusterEnabled"], either("CacheIsOn", True, False))
        # With a domain, the generated address is off: it would bypass a firewall or CDN in front of the domain.
        endpoint = {"disableExecuteApiEndpoint": either("HasDomain", True, False)}
        self.assertEqual(API["x-amazon-apigateway-endpoint-configuration"], endpoint)
        # API Gateway changes one plan at a time.
        self.assertEqual(RESOURCES["ProUsagePlan"]["DependsOn"], "StarterUsagePlan")
        self.assertEqual(RESOURCES["FreeUsagePlan"]["DependsOn"], "ProUsagePlan")

    def test_a_line_of_the_access_log_is_json_of_existing_variables_without_the_key(self):
        _, setting, _ = STAGE["AccessLogSetting"]["Fn::If"]
        variables = {variable.removeprefix("$context.") for variable in json.loads(setting["Format"]).values()}
        self.assertEqual(variables, LOGGED)

    def test_every_response_of_the_gateway_is_an_error_of_the_contract(self):
        for kind, response in API["x-amazon-apigateway-gateway-responses"].items():
            # A status of DEFAULT_4XX would replace the statuses of all response types that AWS may add.
            status = 400 if kind == "DEFAULT_4XX" else int(response["statusCode"])
            self.assertEqual("statusCode" in response, kind != "DEFAULT_4XX", kind)
            [body] = response["responseTemplates"].values()
            text = body["Fn::Sub"].replace("${DashboardUrl}", "https://example.com") if isinstance(body, dict) else body
            # The gateway inserts variables without escaping.
            self.assertNotIn("$", text, kind)
            envelope = json.loads(text)
            self.assertEqual((envelope["success"], envelope["error"]["code"]), (False, CODES[status]), kind)
            headers = {name.removeprefix("gatewayresponse.header."): value for name, value in response["responseParameters"].items()}
            self.assertEqual((headers["Access-Control-Allow-Origin"], headers["Cache-Control"]), ("'*'", "'no-store'"), kind)
            self.assertEqual("Retry-After" in headers, status in (429, 500), kind)


class Rights(unittest.TestCase):
    def expect_rights(self, name, service, rights):
        """Fails unless the service may assume the role, and the policies of the role allow these actions and no others."""
        role = RESOURCES[name]["Properties"]
        [statement] = role["AssumeRolePolicyDocument"]["Statement"]
        self.assertEqual(statement["Principal"], {"Service": f"{service}.amazonaws.com"})
        found = {}
        separate = [policy["Properties"] for policy in of_type("AWS::IAM::RolePolicy").values()]
        policies = role.get("Policies", []) + [policy for policy in separate if policy["RoleName"] == reference(name)]
        for statement in (statement for policy in policies for statement in policy["PolicyDocument"]["Statement"]):
            condition, statement, _ = statement.get("Fn::If", [None, statement, NOTHING])
            self.assertEqual((set(statement) - {"Condition"}, statement["Effect"]), ({"Effect", "Action", "Resource"}, "Allow"))
            self.assertEqual(condition, "PublicFilesAreOn" if "Files.Outputs" in str(statement) else None)
            is_limited = name == "PaymentsRole" and "dynamodb:" in str(statement["Action"])
            self.assertEqual(statement.get("Condition"), LEADING_KEYS if is_limited else None, name)
            resources, actions = ([value] if not isinstance(value, list) else value for value in (statement["Resource"], statement["Action"]))
            for resource in resources:
                found.setdefault(str(resource), set()).update(actions)
        self.assertEqual(found, {str(arn(name)): actions for name, actions in rights.items()})

    def test_functions_have_the_rights_that_they_need_and_no_others(self):
        for binary, (_, function) in FUNCTIONS.items():
            with self.subTest(binary):
                role = function["Role"]["Fn::GetAtt"][0]
                usual = READS if "HISTORY_TABLE" in function["Environment"]["Variables"] else {}
                self.expect_rights(role, "lambda", RIGHTS.get(binary, usual))
                self.assertEqual(RESOURCES[role]["Properties"]["ManagedPolicyArns"], [reference("FunctionPolicy")])
        statements = RESOURCES["FunctionPolicy"]["Properties"]["PolicyDocument"]["Statement"]
        self.assertEqual(statements, [WRITES_LOG, either("TracingIsOn", WRITES_TRACES, NOTHING)])

    def test_the_scheduler_can_only_send_events_of_this_account_to_the_recorders_and_to_the_check_of_payments(self):
        role = RESOURCES["ScheduleRole"]["Properties"]
        invoked = [FUNCTIONS[binary][0] for binary in SCHEDULES] + ["AccountsFunction"]
        self.expect_rights("ScheduleRole", "scheduler", {function: {"lambda:InvokeFunction"} for function in invoked} | KEEPS_EVENTS)
        account = {"StringEquals": {"aws:SourceAccount": reference("AWS::AccountId")}}
        self.assertEqual(role["AssumeRolePolicyDocument"]["Statement"][0]["Condition"], account)
        self.assertNotIn("ManagedPolicyArns", role)

    def test_every_role_is_in_use_and_has_the_boundary(self):
        users = {function["Role"]["Fn::GetAtt"][0] for _, function in FUNCTIONS.values()} | {"ScheduleRole"}
        roles = of_type("AWS::IAM::Role")
        self.assertEqual(set(roles), users)
        boundary = either("HasPermissionsBoundary", reference("PermissionsBoundary"), NOTHING)
        for name, role in (roles | of_type("AWS::IAM::Role", ACCOUNT["Resources"])).items():
            self.assertEqual(role["Properties"]["PermissionsBoundary"], boundary, name)

    def test_only_functions_can_read_the_running_auctions(self):
        [bucket] = of_type("AWS::S3::Bucket").values()
        self.assertEqual(list(bucket["Properties"]["PublicAccessBlockConfiguration"].values()), [True] * 4)
        self.assertEqual(of_type("AWS::S3::BucketPolicy"), {})
        self.assertNotIn("Condition", bucket)

    def test_only_the_distribution_can_read_the_private_bucket(self):
        resources = FILES["Resources"]
        self.assertEqual(list(resources["Bucket"]["Properties"]["PublicAccessBlockConfiguration"].values()), [True] * 4)
        [allowed, denied] = resources["BucketPolicy"]["Properties"]["PolicyDocument"]["Statement"]
        self.assertEqual((allowed["Principal"], denied["Effect"]), ({"Service": "cloudfront.amazonaws.com"}, "Deny"))
        self.assertEqual(allowed["Action"], ["s3:GetObject", "s3:ListBucket"])
        distribution = "arn:${AWS::Partition}:cloudfront::${AWS::AccountId}:distribution/${Distribution}"
        self.assertEqual(allowed["Condition"], {"StringEquals": {"AWS:SourceArn": text_with(distribution)}})
        self.assertEqual(resources["AccessControl"]["Properties"]["OriginAccessControlConfig"]["SigningBehavior"], "always")
        # A request for the root must not list the bucket, and queries must not bypass the cache.
        self.assertTrue(resources["Distribution"]["Properties"]["DistributionConfig"]["DefaultRootObject"])
        key = resources["CachePolicy"]["Properties"]["CachePolicyConfig"]["ParametersInCacheKeyAndForwardedToOrigin"]
        self.assertEqual(key["QueryStringsConfig"], {"QueryStringBehavior": "none"})
        cors = resources["HeadersPolicy"]["Properties"]["ResponseHeadersPolicyConfig"]["CorsConfig"]
        self.assertEqual(cors["AccessControlAllowOrigins"], {"Items": ["*"]})

    def test_the_web_acl_blocks_addresses_and_keeps_no_samples_which_have_keys(self):
        acl = FIREWALL["Resources"]["WebAcl"]["Properties"]
        [rule] = acl["Rules"]
        self.assertEqual((acl["Scope"], rule["Action"]), ("REGIONAL", {"Block": {}}))
        self.assertEqual(rule["Statement"]["RateBasedStatement"]["AggregateKeyType"], "IP")
        for visible in (acl, rule):
            self.assertIs(visible["VisibilityConfig"]["SampledRequestsEnabled"], False)
        [association] = of_type("AWS::WAFv2::WebACLAssociation").values()
        stage = text_with("arn:${AWS::Partition}:apigateway:${AWS::Region}::/restapis/${Api}/stages/${ApiStage}")
        self.assertEqual(association["Properties"], {"ResourceArn": stage, "WebACLArn": reference("WebAclArn")})
        self.assertEqual(association["Condition"], "HasWebAcl")


class Payments(unittest.TestCase):
    def test_everything_of_payments_exists_only_with_an_event_source(self):
        # SAM gives the event source mapping and the schedule names that begin with those of their functions.
        of_payments = {name: resource for name, resource in RESOURCES.items() if name.startswith("Payments")}
        self.assertIn("AWS::Lambda::EventSourceMapping", {resource["Type"] for resource in of_payments.values()})
        for name, resource in of_payments.items():
            self.assertEqual(resource["Condition"], "ArchivesPayments" if name == "PaymentsArchive" else "HasPayments", name)

    def test_the_bus_of_the_event_source_has_one_rule_with_the_queue_as_its_only_target(self):
        [bus] = of_type("AWS::Events::EventBus").values()
        source = reference("StripeEventSource")
        self.assertEqual(bus["Properties"], {"Name": source, "EventSourceName": source})
        [rule] = of_type("AWS::Events::Rule").values()
        properties = rule["Properties"]
        self.assertEqual(set(properties), {"EventBusName", "EventPattern", "Targets"})
        self.assertEqual(properties["EventBusName"], reference("PaymentsBus"))
        self.assertEqual(properties["EventPattern"], {"detail-type": PAYMENTS})
        [target] = properties["Targets"]
        # An input or an input path would replace the event.
        dead_letters = {"Arn": attribute("PaymentsDeadLetters", "Arn")}
        self.assertEqual(target, {"Id": "queue", "Arn": attribute("PaymentsQueue", "Arn"), "DeadLetterConfig": dead_letters})

    def test_events_are_archived_where_the_region_has_archives(self):
        [archive] = of_type("AWS::Events::Archive").values()
        # Without a pattern, the archive keeps all events.
        self.assertEqual(archive["Properties"], {"SourceArn": attribute("PaymentsBus", "Arn"), "RetentionDays": 30})
        absent = ["ap-southeast-4", "ap-southeast-5", "ap-east-2"]
        outside = [{"Fn::Not": [{"Fn::Equals": [reference("AWS::Region"), region]}]} for region in absent]
        self.assertEqual(SOURCE["Conditions"]["ArchivesPayments"], {"Fn::And": [SOURCE["Conditions"]["HasPayments"], *outside]})

    def test_an_event_is_repeated_for_a_day_and_then_kept_for_two_weeks(self):
        queue, dead_letters = (RESOURCES[name]["Properties"] for name in ("PaymentsQueue", "PaymentsDeadLetters"))
        function = FUNCTIONS["payments"][1]
        for properties in (queue, dead_letters):
            self.assertEqual(properties["MessageRetentionPeriod"], 14 * 24 * 60 * 60)
        self.assertEqual(queue["RedrivePolicy"]["deadLetterTargetArn"], attribute("PaymentsDeadLetters", "Arn"))
        self.assertEqual(queue["VisibilityTimeout"] * queue["RedrivePolicy"]["maxReceiveCount"], 24 * 60 * 60)
        self.assertGreaterEqual(queue["VisibilityTimeout"], 6 * function["Timeout"])
        [consumer] = of_type("AWS::Lambda::EventSourceMapping").values()
        expected = {
            "EventSourceArn": attribute("PaymentsQueue", "Arn"),
            "FunctionName": reference("PaymentsFunction"),
            "BatchSize": 1,
            "ScalingConfig": {"MaximumConcurrency": 2},
        }
        self.assertEqual(consumer["Properties"], expected)

    def test_only_the_rule_can_send_to_the_queues(self):
        policies = of_type("AWS::SQS::QueuePolicy").values()
        self.assertEqual([policy["Properties"]["Queues"] for policy in policies], [[reference("PaymentsQueue")], [reference("PaymentsDeadLetters")]])
        for properties in (policy["Properties"] for policy in policies):
            [statement] = properties["PolicyDocument"]["Statement"]
            expected = {
                "Effect": "Allow",
                "Principal": {"Service": "events.amazonaws.com"},
                "Action": "sqs:SendMessage",
                "Resource": attribute(properties["Queues"][0]["Ref"], "Arn"),
                "Condition": {"ArnEquals": {"aws:SourceArn": attribute("PaymentsRule", "Arn")}},
            }
            self.assertEqual(statement, expected)


class Protection(unittest.TestCase):
    def test_what_exists_nowhere_else_outlives_the_stack(self):
        tables = of_type("AWS::DynamoDB::Table")
        for name, kept in (tables | of_type("AWS::S3::Bucket", FILES["Resources"])).items():
            self.assertEqual((kept["DeletionPolicy"], kept["UpdateReplacePolicy"]), ("RetainExceptOnCreate", "Retain"), name)
            # No parameter may remove the resource.
            self.assertNotIn("Condition", kept, name)
        for name, table in tables.items():
            properties = table["Properties"]
            self.assertIs(properties["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"], True, name)
            self.assertEqual(properties["DeletionProtectionEnabled"], either("TablesAreProtected", True, False), name)
        # The audit trail.
        log = RESOURCES["AccountsLog"]
        self.assertEqual((log["DeletionPolicy"], log["UpdateReplacePolicy"]), ("RetainExceptOnCreate", "Retain"))
        # API Gateway would keep the ARN of a deleted role, and no API of the region could write its log.
        for name in ("LogRole", "LogSettings"):
            kept = ACCOUNT["Resources"][name]
            self.assertEqual((kept["DeletionPolicy"], kept["UpdateReplacePolicy"]), ("Retain", "Retain"), name)
        self.assertIn("'apigateway.amazonaws.com'", str(ACCOUNT["Resources"]["LogRole"]["Properties"]["AssumeRolePolicyDocument"]))
        # The settings cannot be created in an AWS account without any resource of API Gateway.
        self.assertEqual(ACCOUNT["Resources"]["LogSettings"]["DependsOn"], "FirstApi")

    def test_functions_log_to_one_group_but_for_the_audit_trail_and_every_group_expires(self):
        for binary, (_, function) in FUNCTIONS.items():
            group = "AccountsLog" if binary in ("accounts", "keys", "payments") else "FunctionLog"
            self.assertEqual(function["LoggingConfig"], {"LogGroup": reference(group)}, binary)
        for name, group in of_type("AWS::Logs::LogGroup").items():
            days = "AuditRetentionDays" if name == "AccountsLog" else "LogRetentionDays"
            self.assertEqual(group["Properties"], {"RetentionInDays": reference(days)}, name)

    def test_concurrency_is_reserved_for_the_authorizer_and_for_what_fetches_for_a_client(self):
        for binary, (_, function) in FUNCTIONS.items():
            reserved = str(function.get("ReservedConcurrentExecutions"))
            parameters = re.findall(r"'(\w+)ReservedConcurrency'", reserved)
            self.assertEqual(re.findall(r"'(\w+)IsReserved'", reserved), parameters, binary)
            fetches = "HYPIXEL_BASE_URL" in function["Environment"]["Variables"] and binary not in SCHEDULES
            last = binary.title() if binary in ("authorizer", "usage") else "Provider" if fetches else None
            self.assertEqual(parameters[-1:], [last] if last else [], binary)

    def test_every_schedule_is_always_on_but_the_check_of_payments(self):
        scheduled = {}
        for name, schedule in of_type("AWS::Scheduler::Schedule").items():
            properties = schedule["Properties"]
            function = properties["Target"]["Arn"]["Fn::GetAtt"][0]
            state = either("HasPayments", "ENABLED", "DISABLED") if function == "AccountsFunction" else None
            self.assertEqual(properties.pop("State", None), state, name)
            # Other properties, such as an end date, could stop the schedule.
            self.assertEqual(set(properties), {"ScheduleExpression", "FlexibleTimeWindow", "Target"}, name)
            self.assertEqual(properties["FlexibleTimeWindow"], {"Mode": "OFF"}, name)
            scheduled[function] = properties["ScheduleExpression"]
        self.assertEqual(scheduled, {FUNCTIONS[binary][0]: expression for binary, expression in SCHEDULES.items()} | {"AccountsFunction": CHECK})
        [check] = SOURCE["Resources"]["AccountsFunction"]["Properties"]["Events"].values()
        self.assertEqual(json.loads(check["Properties"]["Input"]), {"command": "check_payments"})

    def test_a_condition_is_true_if_its_parameter_is_on_or_given(self):
        tested = []
        for name, condition in SOURCE["Conditions"].items():
            if name == "ArchivesPayments":
                continue
            [parameter] = re.findall(r"'Ref': '(\w+)'", str(condition))
            absent = [{"Fn::Not": [{"Fn::Equals": [reference(parameter), nothing]}]} for nothing in ("", "0")]
            self.assertIn(condition, [{"Fn::Equals": [reference(parameter), "on"]}, *absent], name)
            tested.append(parameter)
        self.assertEqual(len(set(tested)), len(tested), tested)

    def test_two_stacks_do_not_collide_in_one_region_or_with_the_same_name_in_two(self):
        for template in (RESOURCES, *(nested["Resources"] for nested in (MONITORING, FILES, ACCOUNT, BUDGET))):
            for name, resource in template.items():
                kind, properties = resource["Type"].split("::")[-1], resource["Properties"]
                given = properties.get("Name") or properties.get(f"{kind}Name") or properties.get(f"{kind}Config", {}).get("Name")
                # Without a name, CloudFormation generates one from the stack's name. A bus has the name of its event source, and each
                # stack needs a source of its own.
                if given and kind not in ("Stage", "EventBus"):
                    self.assertRegex(str(given), r"AWS::Stack(Name|Id)|\bService\b", name)
                    # These names must be unique in all regions of an account.
                    if re.search("::(CloudFront|IAM|S3)::|::Dashboard$", resource["Type"]):
                        self.assertRegex(str(given), r"AWS::Region|AWS::StackId", name)
        self.assertNotIn("BudgetName", str(BUDGET["Resources"]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
