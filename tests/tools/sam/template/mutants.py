#!/usr/bin/env python3
"""Exits with 1 and prints the mutants that the assertions do not notice.

A mutant is the templates with one place changed for the worse. Each of them must fail an assertion, so that no property can
be lost without a failing test.

    python mutants.py template.yaml openapi.json
"""

import io
import multiprocessing
import os
import sys
import tempfile
import traceback
import unittest
from pathlib import Path

import translate  # noqa: F401 (imported once here, and not by the process of each mutant)

SERVICE, MONITORING, ACCOUNT = "template.yaml", "infra/monitoring.yaml", "infra/account.yaml"
FIREWALL = "infra/firewall.yaml"
BUDGET = "infra/budget.yaml"
FILES = "infra/public-files.yaml"
BOUNDARY = "      PermissionsBoundary: !If [HasPermissionsBoundary, !Ref PermissionsBoundary, !Ref AWS::NoValue]\n"
RESERVED = "      ReservedConcurrentExecutions: !If [{0}IsReserved, !Ref {0}ReservedConcurrency, !Ref AWS::NoValue]\n"
RESERVED_ALONE = ("Bazaar", "Auctions", "Profile")
RESERVED_OR_NOT = "!If [ProviderIsReserved, !Ref ProviderReservedConcurrency, !Ref AWS::NoValue]\n"
ANYBODY = "            Condition:\n              StringEquals: {'aws:SourceAccount': !Ref AWS::AccountId}\n"

# The template, the text to replace, and its replacement. Each occurrence of the text makes a mutant of its own.
REPLACEMENTS = [
    # Limits for all clients together.
    (SERVICE, "ThrottlingRateLimit: 1\n", "ThrottlingRateLimit: 10\n"),
    (SERVICE, "ThrottlingBurstLimit: 20", "ThrottlingBurstLimit: 400"),
    (SERVICE, "ThrottlingRateLimit: 2\n", "ThrottlingRateLimit: !Ref RouteRateLimit\n"),
    # Limits of each key.
    (SERVICE, "Quota: !If [HasStarterQuota, ", "Quota: !If [HasProQuota, "),
    (SERVICE, "Period: MONTH", "Period: DAY"),
    (SERVICE, "Limit: !Ref ProMonthlyQuota", "Limit: !Ref StarterMonthlyQuota"),
    (SERVICE, "MonthlyQuota, '0']", "MonthlyQuota, '1']"),
    (SERVICE, "'/v1/profile/{username}/GET'", "'/v1/profile/GET'"),
    (SERVICE, "{RateLimit: !Ref ProfileRateLimit, ", "{RateLimit: !Ref ProRateLimit, "),
    # A budget, and the web ACL.
    (SERVICE, "    Condition: HasBudget\n", ""),
    (BUDGET, "Threshold: 80,", "Threshold: 180,"),
    (BUDGET, "        BudgetType: COST\n", "        BudgetType: COST\n        BudgetName: !Ref AWS::StackName\n"),
    (SERVICE, "!Not [!Equals [!Ref AlarmEmail, '']]", "!Equals [!Ref AlarmEmail, '']"),
    (FIREWALL, "Scope: REGIONAL", "Scope: CLOUDFRONT"),
    (FIREWALL, "Action: {Block: {}}", "Action: {Count: {}}"),
    (FIREWALL, "AggregateKeyType: IP", "AggregateKeyType: FORWARDED_IP"),
    (FIREWALL, "SampledRequestsEnabled: false", "SampledRequestsEnabled: true"),
    (FIREWALL, "    Value: !GetAtt WebAcl.Arn", "    Value: !Ref WebAcl"),
    # Preflight requests: without the greedy method, the index answers them at the limits of unknown paths.
    (SERVICE, "HttpMethod: OPTIONS", "HttpMethod: ANY"),
    (SERVICE, "Method: OPTIONS\n", "Method: HEAD\n"),
    (SERVICE, "ThrottlingRateLimit: !Ref RouteRateLimit", "ThrottlingRateLimit: 10"),
    (SERVICE, "ThrottlingBurstLimit: !Ref RouteBurstLimit", "ThrottlingBurstLimit: !Ref RouteRateLimit"),
    (SERVICE, "    DependsOn: StarterUsagePlan\n", ""),
    (SERVICE, "ThrottlingRateLimit: 0.", "ThrottlingRateLimit: 1."),
    (SERVICE, "          ThrottlingBurstLimit: 20\n", "          ThrottlingBurstLimit: 20\n          MetricsEnabled: false\n"),
    (SERVICE, "ThrottlingBurstLimit: 50\n", "ThrottlingBurstLimit: 51\n"),
    (SERVICE, "ThrottlingBurstLimit: 100\n", "ThrottlingBurstLimit: 1000\n"),
    (SERVICE, "ThrottlingBurstLimit: 500\n", "ThrottlingBurstLimit: 5000\n"),
    # The pages.
    (SERVICE, "    Condition: PagesAreOn\n", ""),
    (SERVICE, "!Equals [!Ref Pages, 'on']", "!Equals [!Ref Pages, 'off']"),
    (SERVICE, "  Pages:\n    Type: String\n    Default: 'on'", "  Pages:\n    Type: String\n    Default: 'off'"),
    (SERVICE, "          - PagesAreOn\n", "          - HasDomain\n"),
    (SERVICE, "            CachingEnabled: false\n", "            CachingEnabled: true\n"),
    (SERVICE, "!If [HasDocumentation, ", "!If [HasDomain, "),
    (SERVICE, "!If [PagesAreOn, /docs, '']", "/docs"),
    (SERVICE, "!Not [!Equals [!Ref DocumentationUrl, '']]", "!Equals [!Ref DocumentationUrl, '']"),
    (SERVICE, "DASHBOARD_URL: !Ref DashboardUrl", "DASHBOARD_URL: !Ref DocumentationUrl"),
    # Public files.
    (SERVICE, "    Condition: PublicFilesAreOn\n", ""),
    (SERVICE, "!Equals [!Ref PublicFiles, 'on']", "!Equals [!Ref PublicFiles, 'off']"),
    (SERVICE, "  PublicFiles:\n    Type: String\n    Default: 'off'", "  PublicFiles:\n    Type: String\n    Default: 'on'"),
    (SERVICE, "[s3:GetObject, s3:PutObject]", "s3:*"),
    *((SERVICE, f"s3:::${{Files.Outputs.Bucket}}/{name}", "s3:::${Files.Outputs.Bucket}/*") for name in ("prices.json", "days/*")),
    (SERVICE, "s3://${Files.Outputs.Bucket}", "s3://${Files}"),
    (SERVICE, "                - PublicFilesAreOn\n", "                - PagesAreOn\n"),
    (FILES, "        BlockPublicPolicy: true\n", "        BlockPublicPolicy: false\n"),
    (FILES, "DeletionPolicy: RetainExceptOnCreate", "DeletionPolicy: Delete"),
    (FILES, "{Service: cloudfront.amazonaws.com}", "'*'"),
    (FILES, "distribution/${Distribution}", "distribution/*"),
    (FILES, "SigningBehavior: always", "SigningBehavior: never"),
    (FILES, "DefaultRootObject: index.html", "DefaultRootObject: ''"),
    (FILES, "MaxTTL: 3600", "MaxTTL: 60"),
    (FILES, "Effect: Deny", "Effect: Allow"),
    (FILES, "Compress: true", "Compress: false"),
    (FILES, "QueryStringBehavior: none", "QueryStringBehavior: all"),
    (FILES, "AccessControlAllowOrigins: {Items: ['*']}", "AccessControlAllowOrigins: {Items: [example.com]}"),
    # Keys.
    (SERVICE, "            Auth: {Authorizer: NONE, ApiKeyRequired: false}\n", ""),
    (SERVICE, "            Path: /v1/auctions\n", "            Path: /v1/auctions\n            Auth: {Authorizer: NONE, ApiKeyRequired: false}\n"),
    # Tables.
    (SERVICE, "      DeletionProtectionEnabled: !If [TablesAreProtected, true, false]\n", ""),
    (SERVICE, "[TablesAreProtected, true, false]", "[TablesAreProtected, false, true]"),
    (SERVICE, "!Equals [!Ref TableProtection, 'on']", "!Equals [!Ref TableProtection, 'off']"),
    (SERVICE, "  TableProtection:\n    Type: String\n    Default: 'on'", "  TableProtection:\n    Type: String\n    Default: 'off'"),
    (SERVICE, "DeletionPolicy: RetainExceptOnCreate", "DeletionPolicy: Retain"),
    (SERVICE, "DeletionPolicy: RetainExceptOnCreate", "DeletionPolicy: Delete"),
    (SERVICE, "UpdateReplacePolicy: Retain", "UpdateReplacePolicy: Delete"),
    (SERVICE, "!If [HasHistoryTable, !Ref HistoryTableName, !Ref History]", "!Ref History"),
    (SERVICE, "!If [HasAccessTable, !Ref AccessTableName, !Ref Access]", "!Ref Access"),
    (SERVICE, "                  - HasHistoryTable\n", "                  - HasAccessTable\n"),
    (SERVICE, "table/${AccessTableName}", "table/*"),
    (SERVICE, "  History:\n    Type: AWS", "  History:\n    Condition: HasHistoryTable\n    Type: AWS"),
    # Roles.
    (SERVICE, BOUNDARY, ""),
    (SERVICE, ANYBODY, ""),
    (SERVICE, "'aws:SourceAccount': !Ref AWS::AccountId", "'aws:SourceAccount': !Ref AWS::StackName"),
    (SERVICE, "            RoleArn: !GetAtt ScheduleRole.Arn\n", ""),
    (SERVICE, "!GetAtt RecordMayorFunction.Arn", "!GetAtt AuthorizerFunction.Arn"),
    (SERVICE, "Resource: !GetAtt FunctionLog.Arn", "Resource: '*'"),
    (SERVICE, "[logs:CreateLogStream, ", "[logs:CreateLogGroup, logs:CreateLogStream, "),
    (SERVICE, "            - TracingIsOn\n            - Effect: Allow", "            - CacheIsOn\n            - Effect: Allow"),
    (SERVICE, "      ManagedPolicyArns: [!Ref FunctionPolicy]\n", ""),
    (SERVICE, "      Role: !GetAtt NoTableRole.Arn\n", ""),
    (SERVICE, "Role: !GetAtt NoTableRole.Arn", "Role: !GetAtt HistoryReaderRole.Arn"),
    (SERVICE, "Role: !GetAtt HistoryReaderRole.Arn", "Role: !GetAtt RecordMayorRole.Arn"),
    (SERVICE, "Action: sqs:SendMessage", "Action: sqs:*"),
    (SERVICE, "Action: dynamodb:Query", "Action: [dynamodb:Query, dynamodb:Scan]"),
    (SERVICE, "[dynamodb:GetItem, dynamodb:PutItem]", "dynamodb:PutItem"),
    (SERVICE, "Role: !GetAtt HistoryBatchReaderRole.Arn", "Role: !GetAtt HistoryReaderRole.Arn"),
    # Reserved concurrency.
    (SERVICE, RESERVED.format("Authorizer"), ""),
    (SERVICE, RESERVED.format("Provider"), ""),
    (SERVICE, RESERVED.format("Provider"), RESERVED.format("Authorizer")),
    *((SERVICE, f"        - {name}IsReserved\n", "        - ProviderIsReserved\n") for name in RESERVED_ALONE),
    *((SERVICE, f"        - !Ref {name}Reserved", "        - !Ref ProviderReserved") for name in RESERVED_ALONE),
    (SERVICE, "        - " + RESERVED_OR_NOT, "        - !Ref AWS::NoValue\n"),
    (SERVICE, "ReservedConcurrency, '0']", "ReservedConcurrency, '1']"),
    (SERVICE, "    Type: Number\n    Default: 0\n", "    Type: Number\n    Default: 1\n"),
    # Logs.
    (SERVICE, "        - AccessLoggingIsOn\n        - DestinationArn", "        - HasDomain\n        - DestinationArn"),
    (SERVICE, "!Equals [!Ref AccessLogging, 'on']", "!Equals [!Ref AccessLogging, 'off']"),
    (SERVICE, "    Condition: AccessLoggingIsOn\n", ""),
    (SERVICE, "AccessLog: !If [AccessLoggingIsOn, !Ref AccessLog, '']", "AccessLog: ''"),
    (SERVICE, "      RetentionInDays: !Ref LogRetentionDays", "      RetentionInDays: !Ref LogRetentionDays\n      LogGroupName: /log"),
    (SERVICE, "    Value: !Ref FunctionLog\n", "    Value: !GetAtt FunctionLog.Arn\n"),
    (SERVICE, "    Value: !Ref AccessLog\n", "    Value: !Ref FunctionLog\n"),
    (ACCOUNT, "    DependsOn: FirstApi\n", ""),
    (ACCOUNT, "DeletionPolicy: Retain\n", "DeletionPolicy: RetainExceptOnCreate\n"),
    (ACCOUNT, "UpdateReplacePolicy: Retain", "UpdateReplacePolicy: Delete"),
    (ACCOUNT, BOUNDARY, ""),
    (ACCOUNT, "apigateway.amazonaws.com", "lambda.amazonaws.com"),
    (ACCOUNT, "CloudWatchRoleArn: !GetAtt LogRole.Arn", "CloudWatchRoleArn: !Ref LogRole"),
    (MONITORING, "    Condition: HasAccessLog\n", ""),
    (MONITORING, "!Not [!Equals [!Ref AccessLog, '']]", "!Equals [!Ref AccessLog, '']"),
    # Domain, web ACL, alarm.
    (SERVICE, "      DisableExecuteApiEndpoint: !If [HasDomain, true, false]\n", ""),
    (SERVICE, "[HasDomain, true, false]", "[HasDomain, false, true]"),
    (SERVICE, "    Condition: HasWebAcl\n", ""),
    (SERVICE, "/stages/${Api.Stage}", "/stages/${Stage}"),
    (SERVICE, "WebACLArn: !Ref WebAclArn", "WebACLArn: !Ref CertificateArn"),
    (MONITORING, "MetricName: Throttles", "MetricName: Throttle"),
    (MONITORING, "MetricName: RateLimited", "MetricName: RateLimit"),
    (MONITORING, "(errors - FILL(limited, 0))", "errors"),
    (MONITORING, "the upstream refuses the API key*", "the upstream refuses the API key"),
    (MONITORING, "ExtendedStatistic: p99", "ExtendedStatistic: p50"),
    (MONITORING, '$.status = "429"', "$.status = 429"),
    (MONITORING, "concurrent / ${ConcurrencyQuota}", "concurrent"),
    (MONITORING, "Statistic: Average", "Statistic: Sum"),
    (MONITORING, "TreatMissingData: ignore", "TreatMissingData: notBreaching"),
    (MONITORING, "MetricName: 4XXError", "MetricName: 429Error"),
    (MONITORING, " && $.complete_reading IS TRUE", ""),
    (MONITORING, "DashboardName: !Sub '${Service}-${AWS::Region}'", "DashboardName: !Ref Service"),
    (SERVICE, "ConcurrencyQuota: !Ref ConcurrencyQuota", "ConcurrencyQuota: !Ref ProRateLimit"),
    (SERVICE, "        MaximumRetryAttempts: 1\n", "        MaximumRetryAttempts: 2\n"),
    (SERVICE, "        MaximumRetryAttempts: 0\n", "        MaximumRetryAttempts: 1\n"),
    (SERVICE, "ScheduleExpression: cron(* * * * ? *)", "ScheduleExpression: rate(1 minute)"),
    # Candles: each right of their recorder, its schedule, timeout and queue, the cache keys of the route, the alarms.
    (SERVICE, "[dynamodb:BatchGetItem, dynamodb:GetItem, dynamodb:PutItem, dynamodb:Query, ", "[dynamodb:GetItem, dynamodb:PutItem, dynamodb:Query, "),
    (SERVICE, "dynamodb:GetItem, dynamodb:PutItem, dynamodb:Query, dynamodb:UpdateItem]", "dynamodb:GetItem, dynamodb:PutItem, dynamodb:UpdateItem]"),
    (SERVICE, "dynamodb:PutItem, dynamodb:Query, dynamodb:UpdateItem]", "dynamodb:Query, dynamodb:UpdateItem]"),
    (SERVICE, "dynamodb:Query, dynamodb:UpdateItem]", "dynamodb:Query, dynamodb:UpdateItem, dynamodb:DeleteItem]"),
    (SERVICE, "ScheduleExpression: cron(2/5 * * * ? *)", "ScheduleExpression: cron(0/5 * * * ? *)"),
    (SERVICE, "ScheduleExpression: cron(2/5 * * * ? *)", "ScheduleExpression: rate(5 minutes)"),
    (SERVICE, "      Timeout: 50\n", "      Timeout: 10\n"),
    (SERVICE, "                  - !GetAtt RecordCandlesFunction.Arn\n", ""),
    (SERVICE, "Role: !GetAtt RecordCandlesRole.Arn", "Role: !GetAtt RecordBazaarRole.Arn"),
    (SERVICE, "querystring.interval: {Required: false, Caching: true}", "querystring.interval: {Required: false, Caching: false}"),
    (SERVICE, "              - method.request.querystring.before: {Required: false, Caching: true}\n", ""),
    (SERVICE, "RecordCandles: !Ref RecordCandlesFunction", "RecordCandles: !Ref RecordBazaarFunction"),
    (MONITORING, "Value: !Ref RecordCandles}", "Value: !Ref RecordBazaar}"),
    (MONITORING, '"FunctionName", "${RecordCandles}", ', '"FunctionName", "${RecordMayor}", '),
    (MONITORING, "      Period: 900\n", "      Period: 300\n"),
    (MONITORING, '$.message = "recorded"', '$.message = "not recorded"'),
    (MONITORING, "MetricName: Recorded", "MetricName: Record"),
    (MONITORING, "Value: $.function", "Value: $.recorder"),
    (MONITORING, "      Threshold: 8\n", "      Threshold: 7\n"),
    (MONITORING, "      Namespace: AWS/Lambda\n      MetricName: Throttles", "      Namespace: AWS/lambda\n      MetricName: Throttles"),
]


def places(text, part):
    """The offsets at which the part occurs."""
    offset = text.find(part)
    while offset >= 0:
        yield offset
        offset = text.find(part, offset + 1)


def outcome(templates, openapi):
    """`failed`, `passed`, or why the assertions could not run. They read the templates when they are imported, so this needs a process
    of its own."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in templates.items():
            path = Path(folder, name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        try:
            sys.argv = ["assertions.py", str(Path(folder, SERVICE)), str(openapi)]
            import assertions

            suite = unittest.defaultTestLoader.loadTestsFromModule(assertions)
            result = unittest.TextTestRunner(stream=io.StringIO()).run(suite)
            return "passed" if result.wasSuccessful() else "failed"
        except BaseException:
            return traceback.format_exc()


def main(arguments):
    if len(arguments) != 2:
        print("usage: mutants.py TEMPLATE OPENAPI", file=sys.stderr)
        return 2
    root, openapi = Path(arguments[0]).parent, Path(arguments[1]).resolve()
    sources = {name: (root / name).read_text() for name in (SERVICE, MONITORING, ACCOUNT, FIREWALL, FILES, BUDGET)}
    wrong = []
    # What each run is about, what it must say, and its templates.
    runs = [("the templates themselves", "passed", sources)]
    for name, part, replacement in REPLACEMENTS:
        source = sources[name]
        offsets = list(places(source, part))
        if not offsets:
            wrong.append(f"{name} has no {part!r}")
        for offset in offsets:
            mutant = source[:offset] + replacement + source[offset + len(part) :]
            line = source.count("\n", 0, offset) + 1
            runs.append((f"{name}:{line}: {part!r} -> {replacement!r}", "failed", sources | {name: mutant}))
    with multiprocessing.get_context("fork").Pool(maxtasksperchild=1) as pool:
        said = pool.starmap(outcome, [(templates, openapi) for _, _, templates in runs], chunksize=1)
    wrong += [f"{about}: {is_said}" for (about, expected, _), is_said in zip(runs, said) if is_said != expected]
    for line in wrong:
        print(line, file=sys.stderr)
    count = len(runs) - 1
    print(f"{count} mutants, {len(wrong)} wrong" if wrong else f"all {count} mutants are noticed")
    return 1 if wrong else 0


if __name__ == "__main__":
    # The assertions are in this folder, whatever the current one is.
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    sys.exit(main(sys.argv[1:]))
