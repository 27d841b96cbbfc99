"""Assertions on infra/monitoring.yaml.

CloudWatch accepts any name of a metric or a dimension. An alarm with a wrong one never rings, and nothing reports it.
"""

import json
import re
import unittest

from deployed import FUNCTIONS, MONITORING, NESTED_STACK, NOTHING, RESOURCES, SOURCE
from deployed import attribute, either, is_given, of_type, reference, text_with

# The parameters of the nested stack. The dimensions of metrics are names of an API and of a queue, not ids or URLs.
PARAMETERS = {
    "Service": reference("AWS::StackName"),
    "ApiName": RESOURCES["Api"]["Properties"]["Name"],
    "Stage": RESOURCES["ApiStage"]["Properties"]["StageName"],
    "FunctionLog": reference("FunctionLog"),
    "AccessLog": either("AccessLoggingIsOn", reference("AccessLog"), ""),
    "RecordAuctions": reference(FUNCTIONS["record-auctions"][0]),
    "RecordBazaar": reference(FUNCTIONS["record-bazaar"][0]),
    "RecordCandles": reference(FUNCTIONS["record-candles"][0]),
    "RecordFireSales": reference(FUNCTIONS["record-fire-sales"][0]),
    "RecordMayor": reference(FUNCTIONS["record-mayor"][0]),
    "Authorizer": reference(FUNCTIONS["authorizer"][0]),
    "HistoryTable": either("HasHistoryTable", reference("HistoryTableName"), reference("History")),
    "AccessTable": either("HasAccessTable", reference("AccessTableName"), reference("Access")),
    "DeadLetters": attribute("DeadLetters", "QueueName"),
    "ConcurrencyQuota": reference("ConcurrencyQuota"),
    "AlarmEmail": reference("AlarmEmail"),
}


def metric(namespace, name, **dimensions):
    """A metric, whose dimensions have the values of these parameters."""
    described = {"Namespace": namespace, "MetricName": name}
    if dimensions:
        described["Dimensions"] = [{"Name": of, "Value": reference(value)} for of, value in dimensions.items()]
    return described


def single(measured, statistic, period):
    return {**measured, "Statistic": statistic, "Period": period}


def calculated(expression, period, statistic="Sum", **metrics):
    """An expression over metrics, their sums for example. Only its result is compared with the threshold."""
    sums = [
        {"Id": name, "ReturnData": False, "MetricStat": {"Metric": measured, "Period": period, "Stat": statistic}}
        for name, measured in metrics.items()
    ]
    return {"Metrics": [{"Expression": expression}, *sums]}


def alarm(measured, comparison="GreaterThanThreshold", threshold=0, points=1, of=1, missing="notBreaching"):
    return {
        **measured,
        "ComparisonOperator": comparison,
        "Threshold": threshold,
        "DatapointsToAlarm": points,
        "EvaluationPeriods": of,
        "TreatMissingData": missing,
    }


AUTHORIZER_ERRORS = metric(reference("Service"), "AuthorizerErrors")
RECORDED = metric(reference("Service"), "Recorded")
RATE_LIMITED = metric(reference("Service"), "RateLimited")
KEY_REFUSED = metric(reference("Service"), "KeyRefused")
UNWRITTEN_FILES = metric(reference("Service"), "UnwrittenFiles")
REFUSED_REQUESTS = metric(reference("Service"), "RefusedRequests")
AUCTION_ROWS = metric(reference("Service"), "AuctionRows")
AUCTION_ROWS_LEFT_OUT = metric(reference("Service"), "AuctionRowsLeftOut")


def of_api(name):
    return metric("AWS/ApiGateway", name, ApiName="ApiName", Stage="Stage")


ALARMS = {
    # Without requests there is no share, and no alarm.
    "ServerErrors": alarm(
        calculated(
            "(errors - FILL(limited, 0)) / requests", 300,
            errors=of_api("5XXError"), limited=RATE_LIMITED, requests=of_api("Count"),
        ),
        threshold=0.05, points=2, of=3,
    ),
    "KeyRefused": alarm(single(KEY_REFUSED, "Sum", 300)),
    "UnwrittenFiles": alarm(single(UNWRITTEN_FILES, "Sum", 300), points=2, of=24),
    "AuctionsLeftOut": alarm(
        calculated("left_out / rows", 3600, left_out=AUCTION_ROWS_LEFT_OUT, rows=AUCTION_ROWS), threshold=0.02
    ),
    "SlowResponses": alarm(
        {**of_api("Latency"), "ExtendedStatistic": "p99", "EvaluateLowSampleCountPercentile": "ignore", "Period": 300},
        threshold=3000, points=3, of=3,
    ),
    "RefusedRequests": alarm(single(REFUSED_REQUESTS, "Sum", 300), threshold=3000),
    "ConcurrencyNearQuota": alarm(
        calculated(
            text_with("concurrent / ${ConcurrencyQuota}"), 60, "Maximum", concurrent=metric("AWS/Lambda", "ConcurrentExecutions")
        ),
        threshold=0.8, points=2, of=5,
    ),
    # Route 53 takes a single metric, one of the simple statistics, and successive periods.
    "Failover": alarm(single(of_api("5XXError"), "Average", 60), threshold=0.5, points=3, of=3, missing="ignore"),
    "ClientErrors": alarm(single(of_api("4XXError"), "Sum", 300), threshold=30000),
    "AuthorizerErrors": alarm(single(AUTHORIZER_ERRORS, "Sum", 60), points=2, of=5),
    # Without dimensions, the metric is the sum over all functions of the account, which share its concurrency.
    "FunctionsThrottled": alarm(single(metric("AWS/Lambda", "Throttles"), "Sum", 60), points=2, of=5),
    "LostEvents": alarm(
        single(metric("AWS/SQS", "ApproximateNumberOfMessagesVisible", QueueName="DeadLetters"), "Maximum", 300)
    ),
}
# Each recorder, and its alarm: the seconds, and the number of records that there must be. Of ten minutes, one may be lost.
RECORDERS = {
    "RecordAuctions": (600, 8), "RecordBazaar": (600, 8), "RecordCandles": (900, 1), "RecordFireSales": (600, 8), "RecordMayor": (900, 1),
}
for recorder, (seconds, records) in RECORDERS.items():
    [binary] = [binary for binary, (function, *_) in FUNCTIONS.items() if reference(function) == PARAMETERS[recorder]]
    recorded = {**RECORDED, "Dimensions": [{"Name": "Function", "Value": binary}]}
    # A recorder that never records has no data at all, so missing data must ring.
    ALARMS[recorder + "Silent"] = alarm(
        single(recorded, "Sum", seconds), comparison="LessThanThreshold", threshold=records, missing="breaching"
    )
    ALARMS[recorder + "Failing"] = alarm(
        single(metric("AWS/Lambda", "Errors", FunctionName=recorder), "Sum", 60), points=3, of=10
    )
for table in ("History", "Access"):
    events = ("ReadThrottleEvents", "WriteThrottleEvents")
    reads, writes = (metric("AWS/DynamoDB", name, TableName=table + "Table") for name in events)
    ALARMS[table + "Throttled"] = alarm(calculated("FILL(reads, 0) + FILL(writes, 0)", 300, reads=reads, writes=writes))

# What is counted in the logs: the metric, the log, and the pattern that finds its lines.
FILTERS = [
    (AUTHORIZER_ERRORS, "AccessLog", '{ $.error = "AUTHORIZER_FAILURE" || $.error = "AUTHORIZER_CONFIGURATION_ERROR" }'),
    (AUTHORIZER_ERRORS, "FunctionLog", '{ $.function = "authorizer" && $.level = "ERROR" }'),
    # tests/service/status/response.rs compares the text with the one that recorders log.
    (RECORDED, "FunctionLog", '{ $.message = "recorded" }'),
    # tests/service/upstream_faults.rs compares the texts with those that functions log.
    (RATE_LIMITED, "FunctionLog", '{ $.status = 500 && $.cause = "the upstream limits the rate of requests*" }'),
    (KEY_REFUSED, "FunctionLog", '{ $.cause = "the upstream refuses the API key*" }'),
    # tests/service/public_files.rs waits for this text.
    (UNWRITTEN_FILES, "FunctionLog", '{ $.message = "public files are not written" }'),
    # tests/service/auction_prices/recorded.rs waits for these fields.
    (AUCTION_ROWS, "FunctionLog", '{ $.function = "record-auctions" && $.rows_read >= 0 && $.complete_reading IS TRUE }'),
    (AUCTION_ROWS_LEFT_OUT, "FunctionLog", '{ $.function = "record-auctions" && $.left_out >= 0 && $.complete_reading IS TRUE }'),
    # In the access log, numbers are texts.
    (REFUSED_REQUESTS, "AccessLog", '{ $.status = "429" }'),
]
# What a line adds to its metric, if not 1.
VALUES = {"AuctionRows": "$.rows_read", "AuctionRowsLeftOut": "$.left_out"}

# The metrics on the dashboard by namespace, and the parameters whose values each dimension may have.
SHOWN = {
    "AWS/ApiGateway": (
        {"Count", "4XXError", "5XXError", "Latency", "CacheHitCount", "CacheMissCount"},
        {"ApiName": {"ApiName"}, "Stage": {"Stage"}},
    ),
    "AWS/Lambda": (
        {"Invocations", "Errors", "Duration", "ConcurrentExecutions"}, {"FunctionName": {"Authorizer", *RECORDERS}}
    ),
    "AWS/DynamoDB": (
        {"ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits"},
        {"TableName": {"HistoryTable", "AccessTable"}},
    ),
    "AWS/SQS": ({"ApproximateNumberOfMessagesVisible"}, {"QueueName": {"DeadLetters"}}),
    "Service": ({"AuthorizerErrors", "RateLimited", "RefusedRequests"}, {}),
}


class NestedStack(unittest.TestCase):
    def test_the_nested_stack_gets_every_parameter_of_its_template(self):
        parameters = NESTED_STACK["Properties"]["Parameters"]
        self.assertEqual(set(parameters), set(MONITORING["Parameters"]))
        self.assertEqual(parameters, PARAMETERS)
        used = set(re.findall(r"'Watch', 'Outputs\.(\w+)'", str(SOURCE["Outputs"])))
        self.assertEqual(used, set(MONITORING["Outputs"]))

    def test_alarms_are_mailed_to_the_address(self):
        conditions = {"HasEmail": is_given("AlarmEmail"), "HasAccessLog": is_given("AccessLog")}
        self.assertEqual(MONITORING["Conditions"], conditions)
        topic = MONITORING["Resources"]["Alarms"]
        self.assertEqual(topic["Condition"], "HasEmail")
        subscription = {"Protocol": "email", "Endpoint": reference("AlarmEmail")}
        self.assertEqual(topic["Properties"]["Subscription"], [subscription])


class Alarms(unittest.TestCase):
    def alarms(self):
        alarms = of_type("AWS::CloudWatch::Alarm", MONITORING["Resources"])
        # What is counted in the access log has no alarm without one.
        self.assertEqual([name for name, alarm in alarms.items() if "Condition" in alarm], ["RefusedRequests"])
        return {name: dict(resource["Properties"]) for name, resource in alarms.items()}

    def test_every_alarm_notifies_the_topic_and_names_the_page(self):
        names = set()
        for name, properties in self.alarms().items():
            for actions in ("AlarmActions", "OKActions"):
                self.assertEqual(properties[actions], either("HasEmail", [reference("Alarms")], NOTHING), name)
            self.assertIn("README", properties["AlarmDescription"], name)
            names.add(properties["AlarmName"]["Fn::Sub"])
            self.assertTrue(properties["AlarmName"]["Fn::Sub"].startswith("${Service} "), name)
        self.assertEqual(len(names), len(ALARMS))

    def test_every_alarm_has_its_metric_its_threshold_and_its_period(self):
        alarms = self.alarms()
        self.assertEqual(set(alarms), set(ALARMS))
        for name, properties in alarms.items():
            for other in ("AlarmName", "AlarmDescription", "AlarmActions", "OKActions"):
                del properties[other]
            properties.setdefault("DatapointsToAlarm", properties["EvaluationPeriods"])
            if "Metrics" in properties:
                result, *sums = properties["Metrics"]
                properties["Metrics"] = [{"Expression": result["Expression"]}, *sums]
            # No other property: a unit, or disabled actions, would silence the alarm.
            self.assertEqual(properties, ALARMS[name], name)

    def test_lines_of_the_logs_are_counted_in_the_metrics_of_alarms(self):
        filters = []
        for name, resource in of_type("AWS::Logs::MetricFilter", MONITORING["Resources"]).items():
            properties = resource["Properties"]
            log = properties["LogGroupName"]["Ref"]
            self.assertEqual(resource.get("Condition"), "HasAccessLog" if log == "AccessLog" else None, name)
            [counted] = properties["MetricTransformations"]
            found = {"Namespace": counted["MetricNamespace"], "MetricName": counted["MetricName"]}
            filters.append((found, log, properties["FilterPattern"]))
            # CloudWatch refuses a default value of a metric with dimensions.
            by_function = [{"Key": "Function", "Value": "$.function"}] if found == RECORDED else None
            self.assertEqual(counted.get("Dimensions"), by_function, name)
            default = None if by_function else 0
            value = VALUES.get(counted["MetricName"], "1")
            self.assertEqual((counted["MetricValue"], counted.get("DefaultValue")), (value, default), name)
        self.assertCountEqual(filters, FILTERS)

    def test_saved_queries_of_the_access_log_exist_only_with_it(self):
        for name, resource in of_type("AWS::Logs::QueryDefinition", MONITORING["Resources"]).items():
            logs = [log["Ref"] for log in resource["Properties"]["LogGroupNames"]]
            self.assertEqual(resource.get("Condition"), "HasAccessLog" if "AccessLog" in logs else None, name)


class Dashboard(unittest.TestCase):
    def test_the_output_has_the_address_of_the_dashboard(self):
        name = MONITORING["Resources"]["Dashboard"]["Properties"]["DashboardName"]["Fn::Sub"]
        address = MONITORING["Outputs"]["DashboardAddress"]["Value"]["Fn::Sub"]
        self.assertTrue(address.endswith(f"#dashboards:name={name}"), address)

    def widgets(self):
        body = MONITORING["Resources"]["Dashboard"]["Properties"]["DashboardBody"]["Fn::Sub"]
        widgets = json.loads(re.sub(r"\$\{([A-Za-z:]+)\}", r"\1", body))["widgets"]
        return [widget["properties"] for widget in widgets if widget["type"] == "metric"]

    def test_the_dashboard_shows_existing_metrics(self):
        shown = {}
        for widget in self.widgets():
            for namespace, name, *dimensions, _ in (entry for entry in widget["metrics"] if len(entry) > 1):
                shown.setdefault(namespace, set()).add(name)
                values = dict(zip(dimensions[::2], dimensions[1::2], strict=True))
                # Without dimensions, a metric of Lambda is that of the account.
                expected = {} if name == "ConcurrentExecutions" else SHOWN[namespace][1]
                self.assertEqual(set(values), set(expected), widget["title"])
                for dimension, value in values.items():
                    self.assertIn(value, SHOWN[namespace][1][dimension], widget["title"])
        self.assertEqual(shown, {namespace: names for namespace, (names, _) in SHOWN.items()})

    def test_the_availability_counts_what_the_alarm_counts(self):
        [[shown]] = [entry for widget in self.widgets() for entry in widget["metrics"] if len(entry) == 1]
        share = ALARMS["ServerErrors"]["Metrics"][0]["Expression"]
        self.assertEqual(shown["expression"], f"100 * (1 - {share})")

    def test_each_widget_about_recorders_shows_all_of_them(self):
        widgets = [widget for widget in self.widgets() if widget["title"].startswith("Recorders")]
        self.assertEqual(len(widgets), 3)
        for widget in widgets:
            self.assertEqual([entry[3] for entry in widget["metrics"]], list(RECORDERS), widget["title"])
