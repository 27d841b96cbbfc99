#!/usr/bin/env python3
"""Assertions on the template as the SAM translator leaves it for CloudFormation.

cfn-lint and the translator accept templates that are wrong: a route without its cache key, a function with too many
permissions, an error that is not JSON. monitoring.py has the assertions on the alarms. mutants.py checks the assertions.

    python assertions.py template.yaml openapi.json
"""

import json
import re
import sys
import unittest

from deployed import ACCOUNT, BUDGET, BUDGET_STACK, FILES, FILES_STACK, FIREWALL, FUNCTIONS, MONITORING, NESTED, NOTHING, OPENAPI, RESOURCES, SOURCE, of_type
from deployed import attribute, either, is_given, is_on, is_positive, reference, text_with
from monitoring import Alarms, Dashboard, NestedStack  # unittest runs these, too

# Every response type that API Gateway documents, with its status and error code.
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
# The policy of all functions: the log, and with tracing on, traces. X-Ray's actions support no narrower resource.
WRITES_LOG = {
    "Effect": "Allow",
    "Action": ["logs:CreateLogStream", "logs:PutLogEvents"],
    "Resource": attribute("FunctionLog", "Arn"),
}
WRITES_TRACES = {
    "Effect": "Allow",
    "Action": ["xray:PutTraceSegments", "xray:PutTelemetryRecords"],
    "Resource": "*",
}
# The recorders that write public files, those that each writes, and their rights if there are any. Without the right to list, a missing
# file is a 403.
WRITES_FILES = {
    "record-auctions": ["lowestbin.json", "lowestbin.json.gz", "prices.json"],
    "record-bazaar": ["bazaar.json", "prices.json"],
    "record-candles": ["auction_averages/*", "auction_averages_lbin/*", "days/*"],
}
FILES_ARN = "arn:${AWS::Partition}:s3:::${Files.Outputs.Bucket}"
MAY_LIST_FILES = either(
    "PublicFilesAreOn", {"Effect": "Allow", "Action": "s3:ListBucket", "Resource": text_with(FILES_ARN)}, NOTHING
)


def may_write_files(names):
    written = [text_with(f"{FILES_ARN}/{name}") for name in names]
    allowed = {"Effect": "Allow", "Action": ["s3:GetObject", "s3:PutObject"], "Resource": written}
    return either("PublicFilesAreOn", allowed, NOTHING)


# Every recorder reads and writes the heartbeat of its feed. The mayor's own row needs nothing more.
HEARTBEAT = {"dynamodb:GetItem", "dynamodb:PutItem"}
# Further permissions of functions: actions on a resource. All other functions have none.
RIGHTS = {
    "authorizer": {"Access": {"dynamodb:GetItem"}},
    "mayor-history": {"History": {"dynamodb:Query"}},
    "fire-sales-history": {"History": {"dynamodb:Query"}},
    "bazaar-history": {"History": {"dynamodb:Query"}},
    "bazaar-candles": {"History": {"dynamodb:Query"}},
    "bazaar-candles-all": {"History": {"dynamodb:BatchGetItem", "dynamodb:Query"}},
    "auctions-averages": {"History": {"dynamodb:Query"}},
    "auctions-candles": {"History": {"dynamodb:Query"}},
    "auctions-prices": {"History": {"dynamodb:Query"}},
    "status": {"History": {"dynamodb:BatchGetItem", "dynamodb:Query"}},
    "record-mayor": {"History": HEARTBEAT, "DeadLetters": {"sqs:SendMessage"}},
    "record-fire-sales": {"History": HEARTBEAT | {"dynamodb:UpdateItem"}},
    "record-auctions": {"History": HEARTBEAT | {"dynamodb:BatchWriteItem", "dynamodb:UpdateItem"}},
    "record-bazaar": {"History": HEARTBEAT | {"dynamodb:BatchWriteItem", "dynamodb:UpdateItem"}},
    "record-candles": {
        "History": HEARTBEAT | {"dynamodb:BatchGetItem", "dynamodb:Query", "dynamodb:UpdateItem"},
        "DeadLetters": {"sqs:SendMessage"},
    },
}
# The tables that functions use: the stack's own ones, or those that the operator names.
HISTORY_TABLE = either("HasHistoryTable", reference("HistoryTableName"), reference("History"))
ACCESS_TABLE = either("HasAccessTable", reference("AccessTableName"), reference("Access"))
# The environment of functions, in addition to GatewayCache. All other functions have that of the provider.
UPSTREAM = {"HYPIXEL_BASE_URL": reference("UpstreamBaseUrl"), "USER_AGENT": reference("UserAgent")}
HISTORY = {"HISTORY_TABLE": HISTORY_TABLE}
PUBLIC_FILES = {"PUBLIC_FILES": either("PublicFilesAreOn", text_with("s3://${Files.Outputs.Bucket}"), "")}
ENVIRONMENT = {
    "mayor-history": HISTORY,
    "fire-sales-history": HISTORY,
    "bazaar-history": HISTORY,
    "bazaar-candles": HISTORY,
    "bazaar-candles-all": HISTORY,
    "auctions-averages": HISTORY,
    "auctions-candles": HISTORY,
    "auctions-prices": HISTORY,
    "profile": UPSTREAM | {
        "MOJANG_BASE_URL": reference("NamesBaseUrl"),
        # The parameter is the name of the secret.
        "HYPIXEL_API_KEY": text_with("{{resolve:secretsmanager:${UpstreamKeySecret}}}"),
    },
    "status": HISTORY,
    "page": {
        "DASHBOARD_URL": reference("DashboardUrl"),
        "PUBLIC_FILES_URL": either("PublicFilesAreOn", {"Fn::GetAtt": ["Files", "Outputs.Address"]}, ""),
    },
    "index": {
        "DOCUMENTATION_URL": either(
            "HasDocumentation", reference("DocumentationUrl"), either("PagesAreOn", "/docs", "")
        ),
    },
    "authorizer": {"ACCESS_TABLE": ACCESS_TABLE},
    "record-auctions": UPSTREAM | HISTORY | PUBLIC_FILES,
    "record-bazaar": UPSTREAM | HISTORY | PUBLIC_FILES,
    "record-candles": HISTORY | PUBLIC_FILES,
    "record-fire-sales": UPSTREAM | HISTORY,
    "record-mayor": UPSTREAM | HISTORY,
}
# The schedules, on which histories and alarms rely.
SCHEDULES = {
    # The time of an event is a whole minute, under which its run files what it fetches.
    "record-auctions": "cron(* * * * ? *)",
    "record-bazaar": "cron(* * * * ? *)",
    # Two minutes after the end of an interval: the last minute of the interval is recorded then.
    "record-candles": "cron(2/5 * * * ? *)",
    "record-fire-sales": "cron(* * * * ? *)",
    "record-mayor": "rate(5 minutes)",
}
# A tick of these is not retried, because the next one is due: a retry would run beside it.
MINUTES = {"record-auctions", "record-bazaar", "record-fire-sales"}
# In seconds. A recorder trusts the time in its event, so a later event would record a new price under an old time.
LATEST = 120
# The functions that fetch from the provider for a client.
PROVIDER = {binary for binary in FUNCTIONS if "HYPIXEL_BASE_URL" in ENVIRONMENT.get(binary, UPSTREAM)} - set(SCHEDULES)
# Those of them with a parameter of their own for reserved concurrency.
RESERVED_ALONE = {"bazaar": "Bazaar", "auctions": "Auctions", "profile": "Profile"}
# The limits for all clients together. Without them, the limit of the account would apply, which other services share.
ROUTE_THROTTLE = {
    "ThrottlingRateLimit": reference("RouteRateLimit"),
    "ThrottlingBurstLimit": reference("RouteBurstLimit"),
}
# The routes under /v1 that require no key, and their limits. Anybody can use them up: infra/README.md says what that costs.
OPEN_ROUTES = ["/v1/status"]
OPEN_ROUTE_THROTTLE = {"ThrottlingRateLimit": 1, "ThrottlingBurstLimit": 20}
# The limits of the preflight requests of all routes together, which the greedy path receives.
GREEDY = "/{proxy+}"
PREFLIGHT_THROTTLE = {"ThrottlingRateLimit": 2, "ThrottlingBurstLimit": 100}
# The limits of the OpenAPI document and of the texts made of it, and those of everything else that requires no key.
DESCRIPTIONS = {"/openapi.json": (1, 50), "/docs.md": (0.2, 50), "/llms.txt": (0.2, 50)}
OPEN_THROTTLE = {"ThrottlingRateLimit": 0.8, "ThrottlingBurstLimit": 20}
# The routes of the pages for people and their limits: per second, and at once. tests/service/abuse.rs computes what they cost.
PAGES = {
    "/docs": (0.1, 50),
    "/market": (0.4, 100),
    "/assets/{hash}/{file}": (0.6, 500),
    "/assets/{hash}/scalar.js": (0.005, 100),
    "/favicon.ico": (0.1, 50),
}
# Retry-After in seconds, where it is not 5.
RETRY_AFTER = {"THROTTLED": 1, "QUOTA_EXCEEDED": 3600}
# The access log: variables that AWS documents, and two that the authorizer adds. A variable that does not exist leaves its
# field empty without an error.
ACCESS_LOG = {
    "time": "requestTimeEpoch",
    "request_id": "requestId",
    "ip": "identity.sourceIp",
    "method": "httpMethod",
    "route": "resourcePath",
    "status": "status",
    "bytes": "responseLength",
    "duration_ms": "responseLatency",
    "function_ms": "integrationLatency",
    "authorizer_ms": "authorizer.latency",
    "account": "authorizer.account",
    "tier": "authorizer.tier",
    "key": "identity.apiKeyId",
    "error": "error.responseType",
    "function_request_id": "integration.requestId",
    "authorizer_request_id": "authorizer.requestId",
}
# The names that the code uses: keys of the tables, the attribute with the expiry of a row, the index.
TABLES = {
    "History": {"keys": [("pk", "HASH"), ("sk", "RANGE")], "time to live": "ttl", "indexes": {}},
    "Access": {
        "keys": [("pk", "HASH")],
        "time to live": None,
        "indexes": {"by-account": [("account", "HASH"), ("pk", "RANGE")]},
    },
}
# The property with the name of a resource, by type. These must be unique in an account, in all of its regions.
NAMES_IN_ACCOUNT = {
    "AWS::CloudFront::CachePolicy": "CachePolicyConfig",
    "AWS::CloudFront::OriginAccessControl": "OriginAccessControlConfig",
    "AWS::CloudFront::OriginRequestPolicy": "OriginRequestPolicyConfig",
    "AWS::CloudFront::ResponseHeadersPolicy": "ResponseHeadersPolicyConfig",
    "AWS::CloudWatch::Dashboard": "DashboardName",
    "AWS::IAM::ManagedPolicy": "ManagedPolicyName",
    "AWS::IAM::Role": "RoleName",
    "AWS::S3::Bucket": "BucketName",
}
# These must be unique in a region of an account.
NAMES = {
    "AWS::ApiGateway::RestApi": "Name",
    "AWS::ApiGateway::UsagePlan": "UsagePlanName",
    "AWS::Logs::QueryDefinition": "Name",
    "AWS::CloudWatch::Alarm": "AlarmName",
    "AWS::DynamoDB::Table": "TableName",
    "AWS::Lambda::Function": "FunctionName",
    "AWS::Logs::LogGroup": "LogGroupName",
    "AWS::SNS::Topic": "TopicName",
    "AWS::SQS::Queue": "QueueName",
    "AWS::Scheduler::Schedule": "Name",
}
# `cargo admin` and infra/README.md use these outputs.
FILES_OUTPUTS = {
    "PublicFilesAddress": attribute("Files", "Outputs.Address"),
    "PublicFilesBucket": attribute("Files", "Outputs.Bucket"),
    "PublicFilesDomainTarget": attribute("Files", "Outputs.DomainTarget"),
}
OUTPUTS = {
    "ApiId": reference("Api"),
    "BaseUrl": either(
        "HasDomain",
        text_with("https://${DomainName}"),
        text_with("https://${Api}.execute-api.${AWS::Region}.${AWS::URLSuffix}/${Stage}"),
    ),
    "DomainTarget": attribute("Domain", "RegionalDomainName"),
    "HistoryTable": HISTORY_TABLE,
    "AccessTable": ACCESS_TABLE,
    "StarterUsagePlan": reference("StarterUsagePlan"),
    "ProUsagePlan": reference("ProUsagePlan"),
    "FunctionLog": reference("FunctionLog"),
    "AccessLog": reference("AccessLog"),
    "DeadLetters": reference("DeadLetters"),
    "DashboardAddress": attribute(NESTED, "Outputs.DashboardAddress"),
} | FILES_OUTPUTS

# What an operator has to ask for.
OPTIONAL = {
    "Tracing": "off",
    "PublicFiles": "off",
    "PublicFilesDomainName": "",
    "PublicFilesCertificateArn": "",
    "DomainName": "",
    "WebAclArn": "",
    "PermissionsBoundary": "",
    "HistoryTableName": "",
    "AccessTableName": "",
    "MonthlyBudget": 0,
    "AuthorizerReservedConcurrency": 0,
    "ProviderReservedConcurrency": 0,
    "BazaarReservedConcurrency": 0,
    "AuctionsReservedConcurrency": 0,
    "ProfileReservedConcurrency": 0,
}

API = RESOURCES["Api"]["Properties"]["Body"]
STAGE = RESOURCES["ApiStage"]["Properties"]


def with_pages(value):
    """What CloudFormation makes of the value if the pages are on."""
    if isinstance(value, dict):
        if value.get("Fn::If", [None])[0] == "PagesAreOn":
            return with_pages(value["Fn::If"][1])
        return {name: with_pages(entry) for name, entry in value.items()}
    return [with_pages(entry) for entry in value] if isinstance(value, list) else value


# The paths, pages included.
PATHS = with_pages(API["paths"])


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

    def test_every_route_has_its_function_and_requires_a_key_unless_it_is_described_as_open(self):
        self.assertEqual([path for path, route in self.routes().items() if self.is_open(route)], OPEN_ROUTES)
        for path, route in self.routes().items():
            self.assertEqual(set(PATHS[path]), {"get"}, path)
            security = [name for entry in PATHS[path]["get"].get("security", []) for name in entry]
            expected = set() if self.is_open(route) else {"KeyAuthorizer", "api_key"}
            self.assertEqual(set(security), expected, path)
            # mayor-history serves /v1/mayor/history, profile serves /v1/profile/{username}.
            binary = re.sub(r"/\{.*", "", path.removeprefix("/v1/")).replace("/", "-")
            self.expect_function(PATHS[path]["get"], binary)

    def is_open(self, route):
        # The document as a whole requires a key.
        return route.get("security") == []

    def expect_function(self, method, binary):
        address = method["x-amazon-apigateway-integration"]["uri"]["Fn::Sub"]
        self.assertIn("${%s.Arn}" % FUNCTIONS[binary][0], address)

    def test_every_route_is_cached_for_its_ttl_by_its_parameters(self):
        settings = self.settings()
        for path, route in self.routes().items():
            setting = settings["GET", path]
            self.assertEqual(setting["CacheTtlInSeconds"], route["x-cache-seconds"], path)
            self.assertEqual(setting["CachingEnabled"], either("CacheIsOn", True, False), path)
            keys = PATHS[path]["get"]["x-amazon-apigateway-integration"].get("cacheKeyParameters", [])
            places = {"query": "querystring", "path": "path"}
            parameters = [f"method.request.{places[p['in']]}.{p['name']}" for p in route.get("parameters", [])]
            self.assertEqual(sorted(keys), sorted(parameters), path)

    def settings(self):
        settings = {}
        for setting in with_pages(STAGE["MethodSettings"]):
            path = re.sub("^/~1", "/", setting["ResourcePath"]).replace("~1", "/")
            self.assertNotIn((setting["HttpMethod"], path), settings)
            settings[setting["HttpMethod"], path] = setting
        return settings

    def test_routes_and_preflight_requests_have_their_limits_and_all_else_a_low_one(self):
        settings = self.settings()
        every = settings.pop(("*", "/*"))
        self.assertEqual(every, {"ResourcePath": "/*", "HttpMethod": "*", "CachingEnabled": False} | OPEN_THROTTLE)
        routes = {("GET", path) for path in (*self.routes(), *PAGES)}
        descriptions = {("GET", path) for path in DESCRIPTIONS}
        self.assertEqual(set(settings), routes | descriptions | {("OPTIONS", GREEDY)})
        for (method, path), setting in settings.items():
            self.assertIn(method.lower(), PATHS[path])
            if path not in self.routes():
                self.assertIs(setting["CachingEnabled"], False, path)
            # An entry inherits nothing, and each property is a patch of the stage, so there are no others.
            own = {"ResourcePath", "HttpMethod", "CachingEnabled", "CacheTtlInSeconds"}
            others = {name: value for name, value in setting.items() if name not in own}
            self.assertEqual(others, self.throttle(path), path)

    def throttle(self, path):
        if path == GREEDY:
            return PREFLIGHT_THROTTLE
        if path in PAGES or path in DESCRIPTIONS:
            rate, burst = (PAGES | DESCRIPTIONS)[path]
            return {"ThrottlingRateLimit": rate, "ThrottlingBurstLimit": burst}
        return OPEN_ROUTE_THROTTLE if self.is_open(self.routes()[path]) else ROUTE_THROTTLE

    def test_the_pages_require_no_key_and_are_there_if_they_are_on(self):
        self.assertEqual(SOURCE["Parameters"]["Pages"]["Default"], "on")
        for path in PAGES:
            condition, item, otherwise = API["paths"][path]["Fn::If"]
            self.assertEqual((condition, otherwise), ("PagesAreOn", NOTHING), path)
            self.assertEqual(set(item), {"get"}, path)
            self.assertFalse(PATHS[path]["get"].get("security"), path)
            self.expect_function(PATHS[path]["get"], "page")
        name, _ = FUNCTIONS["page"]
        for resource in (RESOURCES[name], *self.permissions(name)):
            self.assertEqual(resource["Condition"], "PagesAreOn")
        conditional = [binary for binary, (name, _) in FUNCTIONS.items() if "Condition" in RESOURCES[name]]
        self.assertEqual(conditional, ["page"])
        # The settings of methods that do not exist are an error.
        for setting in STAGE["MethodSettings"]:
            path = with_pages(setting)["ResourcePath"].replace("~1", "/").replace("//", "/")
            self.assertEqual(setting.get("Fn::If", [None])[0], "PagesAreOn" if path in PAGES else None, path)
            self.assertIn(NOTHING, setting.get("Fn::If", [NOTHING]), path)

    def permissions(self, function):
        found = of_type("AWS::Lambda::Permission").values()
        found = [permission for permission in found if permission["Properties"]["FunctionName"] == reference(function)]
        self.assertEqual(len(found), len(PAGES))
        return found

    def test_no_other_path_requires_a_key(self):
        others = {path: set(PATHS[path]) for path in set(PATHS) - set(self.routes()) - set(PAGES)}
        every = "x-amazon-apigateway-any-method"
        # The greedy path does not match the root. No other path has a method for preflight requests, which would have the limit of
        # its route or none: the greedy one receives all.
        descriptions = {path: {"get"} for path in DESCRIPTIONS}
        self.assertEqual(others, descriptions | {"/": {"get", every}, GREEDY: {every, "options"}})
        for path, methods in others.items():
            for name in methods:
                self.assertFalse(PATHS[path][name].get("security"), f"{name} {path}")
                self.expect_function(PATHS[path][name], "index")

    def test_a_decision_is_cached_for_a_minute_by_the_header(self):
        properties = API["securityDefinitions"]["KeyAuthorizer"]["x-amazon-apigateway-authorizer"]
        self.assertEqual(properties["type"], "request")
        self.assertEqual(properties["identitySource"], "method.request.header.X-API-Key")
        self.assertEqual(properties["authorizerResultTtlInSeconds"], 60)
        self.assertEqual(RESOURCES["Api"]["Properties"]["ApiKeySourceType"], "AUTHORIZER")

    def test_a_domain_replaces_the_generated_address(self):
        configuration = {"disableExecuteApiEndpoint": either("HasDomain", True, False)}
        self.assertEqual(API["x-amazon-apigateway-endpoint-configuration"], configuration)

    def test_a_web_acl_filters_the_requests_of_the_stage(self):
        [association] = of_type("AWS::WAFv2::WebACLAssociation").values()
        self.assertEqual(association["Condition"], "HasWebAcl")
        stage = "arn:${AWS::Partition}:apigateway:${AWS::Region}::/restapis/${Api}/stages/${ApiStage}"
        expected = {"ResourceArn": text_with(stage), "WebACLArn": reference("WebAclArn")}
        self.assertEqual(association["Properties"], expected)

    def test_the_gateway_compresses_responses(self):
        properties = RESOURCES["Api"]["Properties"]
        self.assertNotIn("BinaryMediaTypes", properties)
        self.assertEqual(properties["MinimumCompressionSize"], 1024)
        self.assertEqual(properties["EndpointConfiguration"], {"Types": ["REGIONAL"]})

    def test_the_stage_follows_the_parameters(self):
        self.assertEqual(STAGE["StageName"], reference("Stage"))
        # If the property were absent instead of false, the cache could stay on without its keys.
        self.assertEqual(STAGE["CacheClusterEnabled"], either("CacheIsOn", True, False))
        self.assertEqual(STAGE["CacheClusterSize"], either("CacheIsOn", reference("CacheSize"), NOTHING))
        self.assertEqual(STAGE["TracingEnabled"], either("TracingIsOn", True, False))

    def test_there_is_no_second_stage(self):
        # Without OpenApiVersion, SAM adds a stage named Stage, without limits and without a log.
        for name, deployment in of_type("AWS::ApiGateway::Deployment").items():
            self.assertNotIn("StageName", deployment["Properties"], name)
        self.assertEqual(set(of_type("AWS::ApiGateway::Stage")), {"ApiStage"})

    def test_a_changed_parameter_reaches_the_stage(self):
        self.assertIs(SOURCE["Resources"]["Api"]["Properties"]["AlwaysDeploy"], True)


class AccessLog(unittest.TestCase):
    def setting(self):
        condition, setting, otherwise = STAGE["AccessLogSetting"]["Fn::If"]
        self.assertEqual((condition, otherwise), ("AccessLoggingIsOn", NOTHING))
        return setting

    def test_a_line_is_json_of_existing_variables_without_the_key(self):
        line = self.setting()["Format"]
        self.assertNotIn("\n", line)
        self.assertEqual(json.loads(line), {field: f"$context.{variable}" for field, variable in ACCESS_LOG.items()})
        for secret in ("header", "apiKey\"", "authorizer.principalId", "querystring", "context.path"):
            self.assertNotIn(secret, line)

    def test_the_log_exists_if_it_is_on(self):
        self.assertEqual(self.setting()["DestinationArn"], attribute("AccessLog", "Arn"))
        self.assertEqual(RESOURCES["AccessLog"]["Condition"], "AccessLoggingIsOn")

    def test_the_role_that_writes_it_belongs_to_the_account_and_outlives_every_stack(self):
        self.assertEqual(of_type("AWS::ApiGateway::Account"), {})
        [settings] = of_type("AWS::ApiGateway::Account", ACCOUNT["Resources"]).values()
        [(name, role)] = of_type("AWS::IAM::Role", ACCOUNT["Resources"]).items()
        self.assertEqual(settings["Properties"], {"CloudWatchRoleArn": attribute(name, "Arn")})
        [statement] = role["Properties"]["AssumeRolePolicyDocument"]["Statement"]
        self.assertEqual(statement["Principal"], {"Service": "apigateway.amazonaws.com"})
        [policy] = role["Properties"]["ManagedPolicyArns"]
        self.assertTrue(policy["Fn::Sub"].endswith("/AmazonAPIGatewayPushToCloudWatchLogs"), policy)
        # In an AWS account without any resource of API Gateway, the settings cannot be created.
        [(name, _)] = of_type("AWS::ApiGateway::RestApi", ACCOUNT["Resources"]).items()
        self.assertEqual(settings["DependsOn"], name)
        # API Gateway keeps the ARN of a deleted role, and then no API of the region can write its log.
        for resource in (settings, role):
            self.assertEqual((resource["DeletionPolicy"], resource["UpdateReplacePolicy"]), ("Retain", "Retain"))


class GatewayResponses(unittest.TestCase):
    def responses(self):
        return API["x-amazon-apigateway-gateway-responses"]

    def test_every_response_type_is_an_error_of_the_contract(self):
        responses = self.responses()
        longest = "https://example.com/" + "".join(c for c in map(chr, range(33, 127)) if self.is_allowed(c))
        for kind, (status, code) in RESPONSE_TYPES.items():
            response = responses.get(kind) or responses["DEFAULT_4XX" if status < 500 else "DEFAULT_5XX"]
            self.assertEqual(int(response["statusCode"]), status, kind)
            self.expect_envelope(response, code, longest)
            self.expect_headers(response, RETRY_AFTER.get(kind, 5) if status in (429, 500) else None)
        self.assertLessEqual(set(responses), set(RESPONSE_TYPES) | {"DEFAULT_4XX", "DEFAULT_5XX"})

    def test_unknown_response_types_keep_their_status(self):
        response = self.responses()["DEFAULT_4XX"]
        self.assertNotIn("statusCode", response)
        self.expect_envelope(response, "BAD_REQUEST", "")
        self.expect_headers(response, None)

    def is_allowed(self, character):
        pattern = SOURCE["Parameters"]["DashboardUrl"]["AllowedPattern"]
        return re.fullmatch(pattern, "https://x" + character) is not None

    def expect_envelope(self, response, code, address):
        [body] = response["responseTemplates"].values()
        body = substituted(body, {"DashboardUrl": address})
        # The gateway inserts variables without escaping.
        self.assertNotIn("$context", body)
        envelope = json.loads(body)
        self.assertEqual(set(envelope), {"success", "error"})
        self.assertEqual(set(envelope["error"]), {"code", "message"})
        self.assertIs(envelope["success"], False)
        self.assertEqual(envelope["error"]["code"], code)
        self.assertTrue(envelope["error"]["message"])

    def expect_headers(self, response, retry_after):
        headers = {
            "Access-Control-Allow-Origin": "'*'",
            "Access-Control-Expose-Headers": "'Retry-After'",
            # An error must not be cached beyond its cause.
            "Cache-Control": "'no-store'",
        }
        if retry_after is not None:
            headers["Retry-After"] = f"'{retry_after}'"
        expected = {f"gatewayresponse.header.{name}": value for name, value in headers.items()}
        self.assertEqual(response["responseParameters"], expected)

    def test_the_address_of_the_dashboard_cannot_break_the_json(self):
        for character in "\"\\\n\t'<> ":
            self.assertFalse(self.is_allowed(character), repr(character))


class Functions(unittest.TestCase):
    def test_every_function_has_its_environment(self):
        environment = {binary: function["Environment"]["Variables"] for binary, (_, function) in FUNCTIONS.items()}
        every = {"GatewayCache": reference("GatewayCache")}
        self.assertEqual(environment, {binary: every | ENVIRONMENT.get(binary, UPSTREAM) for binary in FUNCTIONS})
        self.assertLessEqual(set(ENVIRONMENT), set(FUNCTIONS))

    def test_architecture_and_tracing_follow_the_parameters(self):
        for binary, (_, function) in FUNCTIONS.items():
            self.assertEqual(function["Architectures"], [reference("Architecture")], binary)
            self.assertEqual(function["TracingConfig"], {"Mode": either("TracingIsOn", "Active", "PassThrough")}, binary)

    def test_every_function_logs_to_one_group_and_every_group_expires(self):
        for binary, (_, function) in FUNCTIONS.items():
            self.assertEqual(function["LoggingConfig"], {"LogGroup": reference("FunctionLog")}, binary)
        for name, group in of_type("AWS::Logs::LogGroup").items():
            # Without a name: a group that a late line recreated must not prevent the next creation of the stack.
            self.assertEqual(group["Properties"], {"RetentionInDays": reference("LogRetentionDays")}, name)

    def test_functions_have_their_timeout_and_memory(self):
        for binary, (_, function) in FUNCTIONS.items():
            # The authorizer decides within 2 s, a function responds within 8 s, and the gateway waits for 29 s. A recorder
            # repeats a failed fetch for 40 s, or writes thousands of rows, and must end before its next tick.
            timeout = 3 if binary == "authorizer" else 50 if binary in SCHEDULES else 10
            self.assertEqual(function["Timeout"], timeout, binary)
            # Cost is proportional to memory.
            self.assertIn(function["MemorySize"], (128, 192, 256, 384, 512, 768, 1024, 1769), binary)

    def test_functions_have_the_permissions_that_they_need_and_no_others(self):
        for binary, (_, function) in FUNCTIONS.items():
            role = RESOURCES[function["Role"]["Fn::GetAtt"][0]]["Properties"]
            names = WRITES_FILES.get(binary)
            expected = [MAY_LIST_FILES, may_write_files(names)] if names else []
            self.assertEqual(self.rights_on_files(role), expected, binary)
            self.assertEqual(self.rights(role), RIGHTS.get(binary, {}), binary)
            self.assertEqual(role["ManagedPolicyArns"], [reference("FunctionPolicy")], binary)
            [statement] = role["AssumeRolePolicyDocument"]["Statement"]
            self.assertEqual(statement["Principal"], {"Service": "lambda.amazonaws.com"}, binary)

    def statements(self, role):
        policies = role.get("Policies", [])
        return [statement for policy in policies for statement in listed(policy["PolicyDocument"]["Statement"])]

    def rights_on_files(self, role):
        return [statement for statement in self.statements(role) if "Fn::If" in statement]

    def rights(self, role):
        rights = {}
        for statement in self.statements(role):
            if "Fn::If" not in statement:
                self.assertEqual(set(statement), {"Effect", "Action", "Resource"})
                self.assertEqual(statement["Effect"], "Allow")
                for resource in listed(statement["Resource"]):
                    resource = self.own(resource)
                    target, attribute = resource["Fn::GetAtt"]
                    self.assertEqual(attribute, "Arn")
                    rights.setdefault(target, set()).update(listed(statement["Action"]))
        return rights

    def own(self, resource):
        """The resource if the operator names no other table, which must be the one of the parameter."""
        if "Fn::If" not in resource:
            return resource
        condition, other, own = resource["Fn::If"]
        table, _ = own["Fn::GetAtt"]
        arn = "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${%sTableName}" % table
        self.assertEqual((condition, other), (f"Has{table}Table", text_with(arn)))
        return own

    def test_every_function_can_write_its_log_and_traces_only_with_tracing_on(self):
        [policy] = of_type("AWS::IAM::ManagedPolicy").values()
        traces = either("TracingIsOn", WRITES_TRACES, NOTHING)
        self.assertEqual(policy["Properties"]["PolicyDocument"]["Statement"], [WRITES_LOG, traces])

    def test_the_scheduler_can_only_send_events_of_this_account_to_the_recorders(self):
        schedules = of_type("AWS::Scheduler::Schedule").values()
        [name] = {schedule["Properties"]["Target"]["RoleArn"]["Fn::GetAtt"][0] for schedule in schedules}
        role = RESOURCES[name]["Properties"]
        [statement] = role["AssumeRolePolicyDocument"]["Statement"]
        self.assertEqual(statement["Principal"], {"Service": "scheduler.amazonaws.com"})
        this_account = {"StringEquals": {"aws:SourceAccount": reference("AWS::AccountId")}}
        self.assertEqual(statement["Condition"], this_account)
        rights = {FUNCTIONS[binary][0]: {"lambda:InvokeFunction"} for binary in SCHEDULES}
        self.assertEqual(self.rights(role), rights | {"DeadLetters": {"sqs:SendMessage"}})
        self.assertNotIn("ManagedPolicyArns", role)

    def test_every_role_is_in_use_and_has_the_boundary(self):
        users = {function["Role"]["Fn::GetAtt"][0] for _, function in FUNCTIONS.values()} | {"ScheduleRole"}
        self.assertEqual(set(of_type("AWS::IAM::Role")), users)
        boundary = either("HasPermissionsBoundary", reference("PermissionsBoundary"), NOTHING)
        for resources in (RESOURCES, ACCOUNT["Resources"]):
            for name, role in of_type("AWS::IAM::Role", resources).items():
                self.assertEqual(role["Properties"]["PermissionsBoundary"], boundary, name)

    def test_no_policy_of_a_role_has_a_wildcard(self):
        for name, role in of_type("AWS::IAM::Role").items():
            others = [statement for statement in self.statements(role["Properties"]) if "Fn::If" not in statement]
            self.assertNotIn("*", json.dumps(others), name)

    def test_concurrency_is_reserved_for_the_authorizer_and_for_what_fetches_from_the_provider(self):
        for binary, (_, function) in FUNCTIONS.items():
            expected = None
            if binary == "authorizer":
                expected = either("AuthorizerIsReserved", reference("AuthorizerReservedConcurrency"), NOTHING)
            elif binary in PROVIDER:
                expected = either("ProviderIsReserved", reference("ProviderReservedConcurrency"), NOTHING)
            if name := RESERVED_ALONE.get(binary):
                expected = either(f"{name}IsReserved", reference(f"{name}ReservedConcurrency"), expected)
            self.assertEqual(function.get("ReservedConcurrentExecutions"), expected, binary)


class Recorders(unittest.TestCase):
    def test_every_schedule_sends_its_time(self):
        scheduled = {}
        for name, schedule in of_type("AWS::Scheduler::Schedule").items():
            properties = schedule["Properties"]
            # No other property: a state or an end date could stop the schedule.
            self.assertEqual(set(properties), {"ScheduleExpression", "FlexibleTimeWindow", "Target"}, name)
            self.assertEqual(properties["FlexibleTimeWindow"], {"Mode": "OFF"}, name)
            scheduled[properties["Target"]["Arn"]["Fn::GetAtt"][0]] = properties["ScheduleExpression"]
            # The scheduler replaces only placeholders that it knows.
            event = json.loads(properties["Target"]["Input"])
            self.assertEqual(event, {"time": "<aws.scheduler.scheduled-time>"}, name)
        self.assertEqual(scheduled, {FUNCTIONS[binary][0]: rate for binary, rate in SCHEDULES.items()})

    def test_failed_events_are_retried_and_kept_unless_they_are_of_a_minute(self):
        dead_letters = attribute("DeadLetters", "Arn")
        of_minutes = {FUNCTIONS[binary][0] for binary in MINUTES}
        for name, schedule in of_type("AWS::Scheduler::Schedule").items():
            target = schedule["Properties"]["Target"]
            kept = None if target["Arn"]["Fn::GetAtt"][0] in of_minutes else {"Arn": dead_letters}
            self.assertEqual(target.get("DeadLetterConfig"), kept, name)
            retries = {"MaximumEventAgeInSeconds": LATEST, "MaximumRetryAttempts": 5}
            self.assertEqual(target["RetryPolicy"], retries, name)
        configured = set()
        for name, configuration in of_type("AWS::Lambda::EventInvokeConfig").items():
            properties = configuration["Properties"]
            function = properties["FunctionName"]["Ref"]
            is_of_minutes = function in of_minutes
            kept = {} if is_of_minutes else {"OnFailure": {"Destination": dead_letters}}
            self.assertEqual(properties["DestinationConfig"], kept, name)
            # Lambda's first retry comes after one minute, the second one two minutes later.
            retries = (properties["MaximumEventAgeInSeconds"], properties["MaximumRetryAttempts"])
            self.assertEqual(retries, (LATEST, 0 if is_of_minutes else 1), name)
            configured.add(function)
        self.assertEqual(configured, {FUNCTIONS[binary][0] for binary in SCHEDULES})

    def test_dead_letters_are_kept_for_the_longest_time(self):
        queue = RESOURCES["DeadLetters"]["Properties"]
        self.assertEqual(queue["MessageRetentionPeriod"], 14 * 24 * 60 * 60)
        self.assertIs(queue["SqsManagedSseEnabled"], True)


class Tables(unittest.TestCase):
    def test_tables_have_the_keys_that_the_code_uses(self):
        tables = {}
        for name, table in of_type("AWS::DynamoDB::Table").items():
            properties = table["Properties"]
            expiry = properties.get("TimeToLiveSpecification", {"AttributeName": None, "Enabled": True})
            self.assertIs(expiry["Enabled"], True, name)
            tables[name] = {
                "keys": self.keys(properties),
                "time to live": expiry["AttributeName"],
                "indexes": {index["IndexName"]: self.keys(index) for index in properties.get("GlobalSecondaryIndexes", [])},
            }
        self.assertEqual(tables, TABLES)

    def keys(self, owner):
        return [(key["AttributeName"], key["KeyType"]) for key in owner["KeySchema"]]

    def test_tables_are_backed_up_and_billed_on_demand(self):
        for name, table in of_type("AWS::DynamoDB::Table").items():
            properties = table["Properties"]
            self.assertEqual(properties["BillingMode"], "PAY_PER_REQUEST", name)
            self.assertTrue(properties["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"], name)

    def test_tables_outlive_the_stack_but_not_a_failed_creation(self):
        for name, table in of_type("AWS::DynamoDB::Table").items():
            self.assertEqual(table["DeletionPolicy"], "RetainExceptOnCreate", name)
            self.assertEqual(table["UpdateReplacePolicy"], "Retain", name)

    def test_tables_are_protected_unless_the_operator_says_otherwise(self):
        self.assertEqual(SOURCE["Parameters"]["TableProtection"]["Default"], "on")
        for name, table in of_type("AWS::DynamoDB::Table").items():
            protection = table["Properties"]["DeletionProtectionEnabled"]
            self.assertEqual(protection, either("TablesAreProtected", True, False), name)


class Plans(unittest.TestCase):
    def test_each_tier_has_a_plan_with_its_own_limits(self):
        plans = {}
        for plan in of_type("AWS::ApiGateway::UsagePlan").values():
            [tier] = [tag["Value"] for tag in plan["Properties"]["Tags"] if tag["Key"] == "tier"]
            throttle = plan["Properties"]["Throttle"]
            plans[tier] = (throttle["RateLimit"]["Ref"], throttle["BurstLimit"]["Ref"])
            name = tier.capitalize()
            quota = {"Limit": reference(f"{name}MonthlyQuota"), "Period": "MONTH"}
            self.assertEqual(plan["Properties"]["Quota"], either(f"Has{name}Quota", quota, NOTHING), tier)
            profiles = {"RateLimit": reference("ProfileRateLimit"), "BurstLimit": reference("ProfileBurstLimit")}
            stage = {"ApiId": reference("Api"), "Stage": reference("ApiStage")}
            methods = {"/v1/profile/{username}/GET": profiles}
            self.assertEqual(plan["Properties"]["ApiStages"], [stage | {"Throttle": methods}])
            for method in methods:
                path, verb = method.rsplit("/", 1)
                self.assertIn(verb.lower(), PATHS[path], "AWS refuses a throttle of a method that does not exist")
        self.assertEqual(
            plans,
            {"starter": ("StarterRateLimit", "StarterBurstLimit"), "pro": ("ProRateLimit", "ProBurstLimit")},
        )

    def test_only_one_plan_changes_at_a_time(self):
        self.assertEqual(RESOURCES["ProUsagePlan"]["DependsOn"], "StarterUsagePlan")


class Firewall(unittest.TestCase):
    def test_addresses_that_send_too_many_requests_are_blocked(self):
        acl = FIREWALL["Resources"]["WebAcl"]["Properties"]
        self.assertEqual((acl["Scope"], acl["DefaultAction"]), ("REGIONAL", {"Allow": {}}))
        [rule] = acl["Rules"]
        self.assertEqual(rule["Action"], {"Block": {}})
        limit = {"AggregateKeyType": "IP", "EvaluationWindowSec": 300, "Limit": reference("RequestsPerAddress")}
        self.assertEqual(rule["Statement"], {"RateBasedStatement": limit})
        # Samples would have the keys of clients.
        for visible in (acl["VisibilityConfig"], rule["VisibilityConfig"]):
            self.assertIs(visible["SampledRequestsEnabled"], False)
        self.assertEqual(FIREWALL["Outputs"]["WebAclArn"]["Value"], attribute("WebAcl", "Arn"))


class PublicFiles(unittest.TestCase):
    def resource(self, name):
        return FILES["Resources"][name]

    def test_the_bucket_is_private_and_outlives_the_stack(self):
        bucket = self.resource("Bucket")
        self.assertEqual((bucket["DeletionPolicy"], bucket["UpdateReplacePolicy"]), ("RetainExceptOnCreate", "Retain"))
        access = bucket["Properties"]["PublicAccessBlockConfiguration"]
        self.assertEqual(len(access), 4)
        self.assertTrue(all(blocked is True for blocked in access.values()), access)

    def test_only_the_distribution_can_read_the_bucket(self):
        [allowed, denied] = self.resource("BucketPolicy")["Properties"]["PolicyDocument"]["Statement"]
        self.assertEqual(allowed["Principal"], {"Service": "cloudfront.amazonaws.com"})
        self.assertEqual(allowed["Action"], ["s3:GetObject", "s3:ListBucket"])
        distribution = text_with("arn:${AWS::Partition}:cloudfront::${AWS::AccountId}:distribution/${Distribution}")
        self.assertEqual(allowed["Condition"], {"StringEquals": {"AWS:SourceArn": distribution}})
        control = self.resource("AccessControl")["Properties"]["OriginAccessControlConfig"]
        self.assertEqual((control["SigningBehavior"], control["SigningProtocol"]), ("always", "sigv4"))
        plain = {"Bool": {"aws:SecureTransport": False}}
        everything = [attribute("Bucket", "Arn"), text_with("${Bucket.Arn}/*")]
        expected = {"Effect": "Deny", "Principal": "*", "Action": "s3:*", "Resource": everything, "Condition": plain}
        self.assertEqual(denied, expected)

    def test_the_distribution_keeps_files_for_a_minute_and_compresses_them(self):
        config = self.resource("Distribution")["Properties"]["DistributionConfig"]
        behavior = config["DefaultCacheBehavior"]
        self.assertIs(config["Enabled"], True)
        self.assertIs(behavior["Compress"], True)
        self.assertEqual(behavior["ViewerProtocolPolicy"], "redirect-to-https")
        self.assertEqual(behavior["CachePolicyId"], reference("CachePolicy"))
        self.assertEqual(behavior["ResponseHeadersPolicyId"], reference("HeadersPolicy"))
        # A request for the root must not list the bucket.
        self.assertTrue(config["DefaultRootObject"])
        cache = self.resource("CachePolicy")["Properties"]["CachePolicyConfig"]
        self.assertEqual([cache[name] for name in ("MinTTL", "DefaultTTL", "MaxTTL")], [0, 60, 3600])
        key = cache["ParametersInCacheKeyAndForwardedToOrigin"]
        self.assertIs(key["EnableAcceptEncodingGzip"], True)
        # A query or a header of a client must not reach the bucket past the cache.
        behaviors = [key[name] for name in ("CookiesConfig", "HeadersConfig", "QueryStringsConfig")]
        self.assertEqual([list(behavior.values()) for behavior in behaviors], [["none"]] * 3)

    def test_any_site_can_read_the_files(self):
        cors = self.resource("HeadersPolicy")["Properties"]["ResponseHeadersPolicyConfig"]["CorsConfig"]
        self.assertEqual(cors["AccessControlAllowOrigins"], {"Items": ["*"]})
        self.assertIs(cors["OriginOverride"], True)
        # A preflight request gets its answer from S3.
        [rule] = self.resource("Bucket")["Properties"]["CorsConfiguration"]["CorsRules"]
        self.assertEqual((rule["AllowedOrigins"], rule["AllowedMethods"]), (["*"], ["GET", "HEAD"]))
        behavior = self.resource("Distribution")["Properties"]["DistributionConfig"]["DefaultCacheBehavior"]
        self.assertEqual(behavior["AllowedMethods"], ["GET", "HEAD", "OPTIONS"])
        self.assertEqual(behavior["OriginRequestPolicyId"], reference("RequestPolicy"))
        policy = self.resource("RequestPolicy")["Properties"]["OriginRequestPolicyConfig"]
        self.assertEqual(policy["QueryStringsConfig"], {"QueryStringBehavior": "none"})
        self.assertEqual(policy["HeadersConfig"]["Headers"], ["Origin", "Access-Control-Request-Headers", "Access-Control-Request-Method"])


class Stack(unittest.TestCase):
    def test_conditions_match_their_names(self):
        conditions = {
            "CacheIsOn": is_on("GatewayCache"),
            "TracingIsOn": is_on("Tracing"),
            "TablesAreProtected": is_on("TableProtection"),
            "AccessLoggingIsOn": is_on("AccessLogging"),
            "PagesAreOn": is_on("Pages"),
            "PublicFilesAreOn": is_on("PublicFiles"),
            "HasDocumentation": is_given("DocumentationUrl"),
            "HasDomain": is_given("DomainName"),
            "HasStarterQuota": is_positive("StarterMonthlyQuota"),
            "HasProQuota": is_positive("ProMonthlyQuota"),
            "HasBudget": is_positive("MonthlyBudget"),
            "HasHistoryTable": is_given("HistoryTableName"),
            "HasAccessTable": is_given("AccessTableName"),
            "HasWebAcl": is_given("WebAclArn"),
            "HasPermissionsBoundary": is_given("PermissionsBoundary"),
            "AuthorizerIsReserved": is_positive("AuthorizerReservedConcurrency"),
            "ProviderIsReserved": is_positive("ProviderReservedConcurrency"),
            "BazaarIsReserved": is_positive("BazaarReservedConcurrency"),
            "AuctionsIsReserved": is_positive("AuctionsReservedConcurrency"),
            "ProfileIsReserved": is_positive("ProfileReservedConcurrency"),
        }
        self.assertEqual(SOURCE["Conditions"], conditions)
        self.assertEqual(ACCOUNT["Conditions"], {"HasPermissionsBoundary": is_given("PermissionsBoundary")})

    def test_what_is_optional_is_off_unless_the_operator_says_otherwise(self):
        defaults = {name: SOURCE["Parameters"][name]["Default"] for name in OPTIONAL}
        self.assertEqual(defaults, OPTIONAL)

    def test_public_files_exist_only_if_they_are_on(self):
        self.assertEqual(FILES_STACK["Condition"], "PublicFilesAreOn")
        passed = {
            "Service": reference("AWS::StackName"),
            "DomainName": reference("PublicFilesDomainName"),
            "CertificateArn": reference("PublicFilesCertificateArn"),
        }
        self.assertEqual(FILES_STACK["Properties"]["Parameters"], passed)
        rule = SOURCE["Rules"]["PublicFilesDomainHasCertificate"]
        self.assertEqual(rule["RuleCondition"], is_given("PublicFilesDomainName"))
        self.assertEqual([entry["Assert"] for entry in rule["Assertions"]], [is_given("PublicFilesCertificateArn")])

    def test_a_domain_wants_a_certificate_and_leads_to_the_stage(self):
        rule = SOURCE["Rules"]["DomainHasCertificate"]
        self.assertEqual(rule["RuleCondition"], is_given("DomainName"))
        self.assertEqual([entry["Assert"] for entry in rule["Assertions"]], [is_given("CertificateArn")])
        domain, mapping = RESOURCES["Domain"], RESOURCES["DomainMapping"]
        self.assertEqual((domain["Condition"], mapping["Condition"]), ("HasDomain", "HasDomain"))
        self.assertEqual(domain["Properties"]["DomainName"], reference("DomainName"))
        self.assertEqual(domain["Properties"]["RegionalCertificateArn"], reference("CertificateArn"))
        leads_to = {"DomainName": reference("Domain"), "RestApiId": reference("Api"), "Stage": reference("ApiStage")}
        self.assertEqual(mapping["Properties"], leads_to)

    def test_a_budget_needs_an_address_and_warns_it_before_everything_is_spent(self):
        rule = SOURCE["Rules"]["BudgetHasAddress"]
        self.assertEqual(rule["RuleCondition"], is_positive("MonthlyBudget"))
        self.assertEqual([entry["Assert"] for entry in rule["Assertions"]], [is_given("AlarmEmail")])
        # Not every region has the type, and CloudFormation reads a nested template only if its condition is true.
        self.assertEqual(of_type("AWS::Budgets::Budget"), {})
        self.assertEqual(BUDGET_STACK["Condition"], "HasBudget")
        passed = {name: reference(name) for name in ("MonthlyBudget", "AlarmEmail")}
        self.assertEqual(BUDGET_STACK["Properties"]["Parameters"], passed)
        self.assertEqual(set(BUDGET["Parameters"]), set(passed))
        [budget] = BUDGET["Resources"].values()
        properties = budget["Properties"]
        self.assertEqual(properties["Budget"]["BudgetLimit"], {"Amount": reference("MonthlyBudget"), "Unit": "USD"})
        subscriber = {"SubscriptionType": "EMAIL", "Address": reference("AlarmEmail")}
        for entry in properties["NotificationsWithSubscribers"]:
            self.assertEqual(entry["Subscribers"], [subscriber])
        limits = [(n["Notification"]["NotificationType"], n["Notification"]["Threshold"]) for n in properties["NotificationsWithSubscribers"]]
        self.assertEqual(limits, [("ACTUAL", 80), ("FORECASTED", 100)])

    def test_the_tables_of_the_stack_stay_whatever_table_is_used(self):
        for name, table in of_type("AWS::DynamoDB::Table").items():
            self.assertNotIn("Condition", table, name)

    def test_outputs_match_their_names(self):
        self.assertEqual({name: output["Value"] for name, output in SOURCE["Outputs"].items()}, OUTPUTS)
        conditions = {name: output["Condition"] for name, output in SOURCE["Outputs"].items() if "Condition" in output}
        files = {name: "PublicFilesAreOn" for name in FILES_OUTPUTS}
        self.assertEqual(conditions, {"DomainTarget": "HasDomain", "AccessLog": "AccessLoggingIsOn"} | files)

    def test_two_stacks_in_one_account_do_not_collide(self):
        stacks = (RESOURCES, "AWS::StackName"), (MONITORING["Resources"], "Service"), (ACCOUNT["Resources"], "AWS::StackName")
        for resources, stack in stacks:
            for name, resource in resources.items():
                given = resource["Properties"].get((NAMES | NAMES_IN_ACCOUNT).get(resource["Type"]))
                # Without a name, CloudFormation generates one from that of the stack.
                if given is not None:
                    self.assertRegex(json.dumps(given), rf'"Ref": "{stack}"|\$\{{{stack}\}}', name)

    def test_two_stacks_of_the_same_name_in_two_regions_do_not_collide(self):
        for template in (RESOURCES, *(nested["Resources"] for nested in (MONITORING, FILES, ACCOUNT, BUDGET))):
            for name, resource in template.items():
                given = resource["Properties"].get(NAMES_IN_ACCOUNT.get(resource["Type"]))
                if given is not None:
                    self.assertRegex(json.dumps(given), r"\$\{AWS::Region\}|AWS::StackId", name)
        # Without a name, AWS generates one.
        [budget] = of_type("AWS::Budgets::Budget", BUDGET["Resources"]).values()
        self.assertNotIn("BudgetName", budget["Properties"]["Budget"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
