#!/usr/bin/env python3
"""Asserts what must be true of the deployed system, on the template as the SAM translator leaves it for CloudFormation.

What cfn-lint and the translator accept can still be wrong: a route without its cache key, a function that may do too
much, an error that is no JSON.

    python assertions.py template.yaml openapi.json
"""

import json
import re
import sys
import unittest
from pathlib import Path

from cfnlint.decode.cfn_yaml import load

import translate

# The gateway gives up on a function after so many seconds.
GATEWAY_TIMEOUT = 29
# Every response type that API Gateway documents: the envelope is for all of them.
RESPONSE_TYPES = {
    "ACCESS_DENIED": (403, "FORBIDDEN"),
    "API_CONFIGURATION_ERROR": (500, "INTERNAL_ERROR"),
    "AUTHORIZER_CONFIGURATION_ERROR": (500, "INTERNAL_ERROR"),
    "AUTHORIZER_FAILURE": (500, "INTERNAL_ERROR"),
    "BAD_REQUEST_BODY": (400, "BAD_REQUEST"),
    "BAD_REQUEST_PARAMETERS": (400, "BAD_REQUEST"),
    "EXPIRED_TOKEN": (401, "UNAUTHORIZED"),
    "INTEGRATION_FAILURE": (500, "INTERNAL_ERROR"),
    "INTEGRATION_TIMEOUT": (500, "INTERNAL_ERROR"),
    "INVALID_API_KEY": (401, "UNAUTHORIZED"),
    "INVALID_SIGNATURE": (401, "UNAUTHORIZED"),
    "MISSING_AUTHENTICATION_TOKEN": (404, "NOT_FOUND"),
    "QUOTA_EXCEEDED": (429, "RATE_LIMITED"),
    "REQUEST_TOO_LARGE": (400, "BAD_REQUEST"),
    "RESOURCE_NOT_FOUND": (404, "NOT_FOUND"),
    "THROTTLED": (429, "RATE_LIMITED"),
    "UNAUTHORIZED": (401, "UNAUTHORIZED"),
    "UNSUPPORTED_MEDIA_TYPE": (400, "BAD_REQUEST"),
    "WAF_FILTERED": (403, "FORBIDDEN"),
}
# What AWS itself maintains: logs and traces, which know no narrower resource, and the gateway's own log role.
MANAGED_POLICIES = {"AWSLambdaBasicExecutionRole", "AWSXrayWriteOnlyAccess", "AmazonAPIGatewayPushToCloudWatchLogs"}
# What a function may do beyond that: actions on a resource. All others may do nothing.
RIGHTS = {
    "authorizer": {"Access": {"dynamodb:GetItem"}},
    "mayor-history": {"History": {"dynamodb:Query"}},
    "fire-sales-history": {"History": {"dynamodb:Query"}},
    "bazaar-history": {"History": {"dynamodb:Query"}},
    "record-mayor": {"History": {"dynamodb:PutItem"}, "DeadLetters": {"sqs:SendMessage"}},
    "record-fire-sales": {"History": {"dynamodb:UpdateItem"}, "DeadLetters": {"sqs:SendMessage"}},
    "record-bazaar": {
        "History": {"dynamodb:BatchGetItem", "dynamodb:BatchWriteItem", "dynamodb:PutItem"},
        "DeadLetters": {"sqs:SendMessage"},
    },
}

TEMPLATE, OPENAPI = Path(sys.argv[1]), Path(sys.argv[2])
SOURCE = load(str(TEMPLATE))
RESOURCES = translate.translated(TEMPLATE)["Resources"]
API = RESOURCES["Api"]["Properties"]["Body"]
STAGE = RESOURCES["ApiStage"]["Properties"]


def of_type(resource_type):
    return {name: resource for name, resource in RESOURCES.items() if resource["Type"] == resource_type}


FUNCTIONS = {
    function["Metadata"]["BuildProperties"]["Binary"]: (name, function["Properties"])
    for name, function in of_type("AWS::Lambda::Function").items()
}


def listed(value):
    return value if isinstance(value, list) else [value]


def substituted(value, parameters):
    """The text with parameters filled in, as Fn::Sub does it."""
    if isinstance(value, dict):
        [text] = value.values()
        return re.sub(r"\$\{([A-Za-z:]+)\}", lambda match: parameters[match[1]], text)
    return value


class Routes(unittest.TestCase):
    def routes(self):
        described = json.loads(OPENAPI.read_text())["paths"]
        return {path: item["get"] for path, item in described.items() if path.startswith("/v1/")}

    def test_every_route_has_its_function_its_authorizer_and_its_key(self):
        self.assertEqual(len(self.routes()), 10)
        for path in self.routes():
            methods = {name for name in API["paths"][path] if name != "options"}
            self.assertEqual(methods, {"get"}, path)
            security = [name for entry in API["paths"][path]["get"]["security"] for name in entry]
            self.assertEqual(set(security), {"KeyAuthorizer", "api_key"}, path)

    def test_every_route_is_cached_for_its_time_by_its_parameters(self):
        settings = {}
        for setting in STAGE["MethodSettings"]:
            path = re.sub("^/~1", "/", setting["ResourcePath"]).replace("~1", "/")
            self.assertNotIn(path, settings)
            settings[path] = setting
        every = settings.pop("/*")
        self.assertEqual((every["HttpMethod"], every["CachingEnabled"]), ("*", False))
        self.assertEqual(set(settings), set(self.routes()))
        for path, route in self.routes().items():
            setting = settings[path]
            self.assertEqual(setting["HttpMethod"], "GET")
            self.assertEqual(setting["CacheTtlInSeconds"], route["x-cache-seconds"], path)
            self.assertEqual(setting["CachingEnabled"], {"Fn::If": ["CacheIsOn", True, False]}, path)
            # An entry inherits nothing.
            for name in set(every) - {"ResourcePath", "HttpMethod", "CachingEnabled"}:
                self.assertEqual(setting[name], every[name], f"{path}: {name}")
            keys = API["paths"][path]["get"]["x-amazon-apigateway-integration"].get("cacheKeyParameters", [])
            places = {"query": "querystring", "path": "path"}
            parameters = [f"method.request.{places[p['in']]}.{p['name']}" for p in route.get("parameters", [])]
            self.assertEqual(sorted(keys), sorted(parameters), path)

    def test_every_other_path_wants_no_key(self):
        others = set(API["paths"]) - set(self.routes())
        self.assertEqual(others, {"/", "/openapi.json", "/{proxy+}"})
        for path in others:
            for name, method in API["paths"][path].items():
                self.assertFalse(method.get("security"), f"{name} {path}")

    def test_preflight_wants_no_key(self):
        for path, methods in API["paths"].items():
            self.assertFalse(methods["options"].get("security"), path)

    def test_the_authorizer_decides_for_a_minute_by_the_header(self):
        properties = API["securityDefinitions"]["KeyAuthorizer"]["x-amazon-apigateway-authorizer"]
        self.assertEqual(properties["type"], "request")
        self.assertEqual(properties["identitySource"], "method.request.header.X-API-Key")
        self.assertEqual(properties["authorizerResultTtlInSeconds"], 60)
        self.assertEqual(RESOURCES["Api"]["Properties"]["ApiKeySourceType"], "AUTHORIZER")
        self.assertNotIn("BinaryMediaTypes", RESOURCES["Api"]["Properties"])

    def test_the_cache_is_switched_off_explicitly(self):
        self.assertEqual(STAGE["CacheClusterEnabled"], {"Fn::If": ["CacheIsOn", True, False]})

    def test_an_update_reaches_the_stage_even_if_only_a_parameter_changes(self):
        self.assertIs(SOURCE["Resources"]["Api"]["Properties"]["AlwaysDeploy"], True)

    def test_a_line_of_the_access_log_is_json_without_the_key(self):
        line = re.sub(r"\$context\.[A-Za-z.]+", "x", STAGE["AccessLogSetting"]["Format"])
        self.assertNotIn("\n", line)
        self.assertGreater(len(json.loads(line)), 10)
        for secret in ("header", "apiKey\"", "authorizer.principalId", "querystring", "context.path"):
            self.assertNotIn(secret, STAGE["AccessLogSetting"]["Format"])


class GatewayResponses(unittest.TestCase):
    def responses(self):
        return API["x-amazon-apigateway-gateway-responses"]

    def test_every_type_is_an_error_of_the_contract(self):
        responses = self.responses()
        longest = "https://example.com/" + "".join(c for c in map(chr, range(33, 127)) if self.is_allowed(c))
        for kind, (status, code) in RESPONSE_TYPES.items():
            response = responses.get(kind) or responses["DEFAULT_4XX" if status < 500 else "DEFAULT_5XX"]
            self.assertEqual(int(response["statusCode"]), status, kind)
            self.expect_envelope(response, code, longest)
            if status in (429, 500):
                self.assertRegex(response["responseParameters"]["gatewayresponse.header.Retry-After"], r"^'\d+'$")
        self.assertLessEqual(set(responses), set(RESPONSE_TYPES) | {"DEFAULT_4XX", "DEFAULT_5XX"})

    def test_what_aws_may_add_keeps_its_own_status(self):
        response = self.responses()["DEFAULT_4XX"]
        self.assertNotIn("statusCode", response)
        self.expect_envelope(response, "BAD_REQUEST", "")

    def is_allowed(self, character):
        pattern = SOURCE["Parameters"]["DashboardUrl"]["AllowedPattern"]
        return re.fullmatch(pattern, "https://x" + character) is not None

    def expect_envelope(self, response, code, address):
        [body] = response["responseTemplates"].values()
        body = substituted(body, {"DashboardUrl": address})
        # Variables are filled in without escaping.
        self.assertNotIn("$context", body)
        envelope = json.loads(body)
        self.assertEqual(set(envelope), {"success", "error"})
        self.assertEqual(set(envelope["error"]), {"code", "message"})
        self.assertIs(envelope["success"], False)
        self.assertEqual(envelope["error"]["code"], code)
        self.assertTrue(envelope["error"]["message"])
        headers = response["responseParameters"]
        self.assertEqual(headers["gatewayresponse.header.Access-Control-Allow-Origin"], "'*'")

    def test_an_address_cannot_break_the_json(self):
        for character in "\"\\\n\t'<> ":
            self.assertFalse(self.is_allowed(character), repr(character))


class Functions(unittest.TestCase):
    def test_every_function_logs_into_a_group_that_forgets(self):
        groups = of_type("AWS::Logs::LogGroup")
        for binary, (_, function) in FUNCTIONS.items():
            self.assertIn(function["LoggingConfig"]["LogGroup"]["Ref"], groups, binary)
        for name, group in groups.items():
            self.assertIn("RetentionInDays", group["Properties"], name)

    def test_functions_give_up_before_the_gateway_does(self):
        for binary, (_, function) in FUNCTIONS.items():
            # A recorder answers nobody; it must have ended before it is due again.
            bound = 60 if binary.startswith("record-") else GATEWAY_TIMEOUT
            self.assertLess(function["Timeout"], bound, binary)
            self.assertGreaterEqual(function["MemorySize"], 128, binary)

    def test_functions_may_do_what_they_need_and_nothing_else(self):
        for binary, (name, function) in FUNCTIONS.items():
            role = RESOURCES[function["Role"]["Fn::GetAtt"][0]]["Properties"]
            rights = {}
            for policy in role.get("Policies", []):
                for statement in listed(policy["PolicyDocument"]["Statement"]):
                    self.assertEqual(statement["Effect"], "Allow")
                    for resource in listed(statement["Resource"]):
                        target, attribute = resource["Fn::GetAtt"]
                        self.assertEqual(attribute, "Arn", binary)
                        rights.setdefault(target, set()).update(listed(statement["Action"]))
            self.assertEqual(rights, RIGHTS.get(binary, {}), binary)

    def test_no_policy_has_a_star(self):
        for name, role in of_type("AWS::IAM::Role").items():
            for policy in role["Properties"].get("Policies", []):
                for statement in listed(policy["PolicyDocument"]["Statement"]):
                    for value in listed(statement["Action"]) + listed(statement["Resource"]):
                        self.assertNotIn("*", json.dumps(value), name)
            for arn in role["Properties"].get("ManagedPolicyArns", []):
                arn = substituted(arn, {"AWS::Partition": "aws"})
                self.assertIn(arn.rsplit("/", 1)[1], MANAGED_POLICIES, name)

    def test_what_a_schedule_sends_is_never_lost(self):
        schedules = of_type("AWS::Scheduler::Schedule")
        configurations = {
            config["Properties"]["FunctionName"]["Ref"]: config["Properties"]
            for config in of_type("AWS::Lambda::EventInvokeConfig").values()
        }
        scheduled = set()
        for name, schedule in schedules.items():
            target = schedule["Properties"]["Target"]
            self.assertEqual(target["DeadLetterConfig"]["Arn"]["Fn::GetAtt"], ["DeadLetters", "Arn"], name)
            self.assertIn("MaximumRetryAttempts", target["RetryPolicy"], name)
            function = target["Arn"]["Fn::GetAtt"][0]
            destination = configurations[function]["DestinationConfig"]["OnFailure"]["Destination"]
            self.assertEqual(destination["Fn::GetAtt"], ["DeadLetters", "Arn"], name)
            scheduled.add(function)
        recorders = {name for binary, (name, _) in FUNCTIONS.items() if binary.startswith("record-")}
        self.assertEqual(scheduled, recorders)


class Tables(unittest.TestCase):
    def test_tables_are_kept_backed_up_and_paid_by_use(self):
        for name, table in of_type("AWS::DynamoDB::Table").items():
            self.assertEqual(table["DeletionPolicy"], "Retain", name)
            properties = table["Properties"]
            self.assertEqual(properties["BillingMode"], "PAY_PER_REQUEST", name)
            self.assertTrue(properties["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"], name)


class Plans(unittest.TestCase):
    def test_each_tier_has_a_plan_with_its_own_limits(self):
        plans = {}
        for name, plan in of_type("AWS::ApiGateway::UsagePlan").items():
            [tier] = [tag["Value"] for tag in plan["Properties"]["Tags"] if tag["Key"] == "tier"]
            throttle = plan["Properties"]["Throttle"]
            plans[tier] = (throttle["RateLimit"]["Ref"], throttle["BurstLimit"]["Ref"])
            self.assertEqual(plan["Properties"]["ApiStages"], [{"ApiId": {"Ref": "Api"}, "Stage": {"Ref": "ApiStage"}}])
            self.assertIn(name, {output["Value"].get("Ref") for output in SOURCE["Outputs"].values()})
        self.assertEqual(
            plans,
            {"starter": ("StarterRateLimit", "StarterBurstLimit"), "pro": ("ProRateLimit", "ProBurstLimit")},
        )


class Watch(unittest.TestCase):
    def setUp(self):
        self.stack = RESOURCES["Watch"]["Properties"]
        self.watch = load(str(TEMPLATE.parent / self.stack["TemplateURL"]))

    def test_the_nested_template_is_told_what_it_asks_for(self):
        self.assertEqual(set(self.stack["Parameters"]), set(self.watch["Parameters"]))
        used = set(re.findall(r"'Outputs\.(\w+)'", str(SOURCE["Outputs"])))
        self.assertEqual(used, set(self.watch["Outputs"]))

    def test_every_alarm_tells_somebody_and_says_what_to_do(self):
        names = set()
        for name, resource in self.watch["Resources"].items():
            if resource["Type"] != "AWS::CloudWatch::Alarm":
                continue
            alarm = resource["Properties"]
            names.add(name)
            for actions in ("AlarmActions", "OKActions"):
                self.assertEqual(alarm[actions], {"Fn::If": ["HasEmail", [{"Ref": "Alarms"}], {"Ref": "AWS::NoValue"}]}, name)
            self.assertIn("README", alarm["AlarmDescription"], name)
            self.assertIn("TreatMissingData", alarm, name)
        self.assertGreaterEqual(len(names), 11, names)

    def test_the_dashboard_is_json(self):
        [body] = self.watch["Resources"]["Dashboard"]["Properties"]["DashboardBody"].values()
        filled = re.sub(r"\$\{[A-Za-z:]+\}", "x", body)
        self.assertGreater(len(json.loads(filled)["widgets"]), 5)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
