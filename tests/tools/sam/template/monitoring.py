"""Asserts properties of infra/monitoring.yaml.

CloudWatch accepts any name of a metric or a dimension, so an alarm with a wrong name never goes off, without an error.
"""

import json
import re
import unittest

from deployed import FUNCTIONS, MONITORING, NOTHING, RESOURCES, TEMPLATE, either, of_type, reference

PASSED = RESOURCES["Watch"]["Properties"]["Parameters"]
# The recorders' binaries, by parameter.
RECORDERS = {name.removesuffix("Function"): binary for binary, (name, _) in FUNCTIONS.items() if binary.startswith("record-")}
# The functions for commands, and the queues of payments, by parameter.
COMMANDS = ("Accounts", "Keys")
QUEUES = ("PaymentsQueue", "PaymentsDeadLetters")
# For each namespace of AWS: the metrics that alarms and the dashboard may use, and the allowed parameters of each dimension. CloudWatch
# has no metric with only some of the dimensions. The service's own metrics come from the logs.
METRICS = {
    "AWS/ApiGateway": (
        {"Count", "4XXError", "5XXError", "Latency", "CacheHitCount", "CacheMissCount"}, {"ApiName": {"ApiName"}, "Stage": {"Stage"}},
    ),
    "AWS/Lambda": ({"Invocations", "Errors", "Duration"}, {"FunctionName": {"Authorizer", *COMMANDS, "Payments", *RECORDERS}}),
    "AWS/DynamoDB": (
        {"ReadThrottleEvents", "WriteThrottleEvents", "ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits"},
        {"TableName": {"HistoryTable", "AccessTable"}},
    ),
    "AWS/SQS": ({"ApproximateAgeOfOldestMessage", "ApproximateNumberOfMessagesVisible"}, {"QueueName": {"DeadLetters", *QUEUES}}),
}
# Metrics of Lambda for the whole account, whose functions share its concurrency.
OF_ACCOUNT = {"Throttles", "ConcurrentExecutions"}
ALARMS = of_type("AWS::CloudWatch::Alarm", MONITORING["Resources"])
FILTERS = of_type("AWS::Logs::MetricFilter", MONITORING["Resources"])
COUNTED = {resource["Properties"]["MetricTransformations"][0]["MetricName"] for resource in FILTERS.values()}


def plain(value):
    """Returns the name of a parameter, or the text."""
    return value["Ref"] if isinstance(value, dict) else value


class Monitoring(unittest.TestCase):
    def expect_metric(self, namespace, metric, dimensions):
        names, expected = (COUNTED, {}) if namespace == "Service" else METRICS[namespace]
        if metric == "Recorded":
            expected = {"Function": set(RECORDERS.values())}
        if metric == "Unchanged":
            expected = {"Function": {"record-auctions", "record-bazaar"}}
        if namespace == "AWS/Lambda" and metric in OF_ACCOUNT:
            names, expected = OF_ACCOUNT, {}
        self.assertIn(metric, names)
        self.assertEqual(set(dimensions), set(expected), metric)
        for dimension, value in dimensions.items():
            self.assertIn(value, expected[dimension], metric)

    def test_each_parameter_gets_the_resource_of_its_name(self):
        self.assertEqual(set(PASSED), set(MONITORING["Parameters"]))
        names = {"Service": "AWS::StackName", "ApiName": "AWS::StackName", "DeadLetters": '["DeadLetters", "QueueName"]'}
        for name, value in PASSED.items():
            self.assertIn(names.get(name, name), json.dumps(value))

    def test_every_alarm_has_a_metric_that_exists_and_notifies_the_operator(self):
        for name, resource in ALARMS.items():
            alarm = resource["Properties"]
            for actions in ("AlarmActions", "OKActions"):
                self.assertEqual(alarm[actions], either("HasEmail", [reference("Alarms")], NOTHING), name)
            # A unit would hide the data, and `ActionsEnabled` could turn the actions off.
            self.assertFalse({"Unit", "ActionsEnabled"} & set(alarm), name)
            metrics = [entry["MetricStat"]["Metric"] for entry in alarm.get("Metrics", []) if "MetricStat" in entry] or [alarm]
            for metric in metrics:
                dimensions = {entry["Name"]: plain(entry["Value"]) for entry in metric.get("Dimensions", [])}
                self.expect_metric(plain(metric["Namespace"]), metric["MetricName"], dimensions)
            # A recorder that never records has no data, so missing data must set off its alarm.
            is_breaching = (alarm["ComparisonOperator"], alarm["TreatMissingData"]) == ("LessThanThreshold", "breaching")
            self.assertEqual(is_breaching, alarm.get("MetricName") == "Recorded", name)

    def test_each_recorder_has_alarms_of_its_own(self):
        for recorder, binary in RECORDERS.items():
            for suffix, value in {"Silent": binary, "Failing": reference(recorder)}.items():
                self.assertEqual(ALARMS[recorder + suffix]["Properties"]["Dimensions"][0]["Value"], value)

    def test_data_of_each_market_that_stand_still_have_an_alarm(self):
        standstills = [alarm["Properties"] for alarm in ALARMS.values() if alarm["Properties"].get("MetricName") == "Unchanged"]
        recorders = {alarm["Dimensions"][0]["Value"] for alarm in standstills}
        self.assertEqual(recorders, {"record-auctions", "record-bazaar"})
        # Each run with unchanged data logs a line, so one line is enough.
        self.assertTrue(all(alarm["Statistic"] == "Sum" and alarm["Threshold"] == 0 for alarm in standstills))

    def test_a_response_near_lambdas_limit_has_an_alarm(self):
        alarm = ALARMS["LargeResponses"]["Properties"]
        self.assertEqual((alarm["Statistic"], alarm["Threshold"]), ("Maximum", int(0.8 * 6_291_556)))
        [size] = [resource["Properties"] for resource in FILTERS.values() if "PayloadBytes" in json.dumps(resource)]
        self.assertEqual(size["MetricTransformations"][0]["MetricValue"], "$.payload_bytes")
        handler = (TEMPLATE.parent / "common/src/lambda/handler.rs").read_text()
        self.assertIn("payload_bytes,", handler)

    def test_errors_of_accounts_and_usage_have_an_alarm(self):
        """Requests for the usage are a small share of all requests, and a command is not a request."""
        counted = [resource["Properties"] for resource in FILTERS.values() if "AccountErrors" in json.dumps(resource)]
        self.assertEqual([filter["LogGroupName"] for filter in counted], [reference("AccountsLog"), reference("FunctionLog")])
        self.assertEqual(ALARMS["AccountErrors"]["Properties"]["MetricName"], "AccountErrors")

    def test_commands_and_payments_that_fail_have_alarms(self):
        failing = {name: plain(alarm["Properties"]["Dimensions"][0]["Value"]) for name, alarm in ALARMS.items() if name.endswith("Failing")}
        for function in (*COMMANDS, "Payments"):
            self.assertEqual(failing[f"{function}Failing"], function)

    def test_payments_have_alarms_only_if_there_are_payments(self):
        of_payments = {name: alarm["Properties"] for name, alarm in ALARMS.items() if alarm.get("Condition") == "HasPayments"}
        names = {alarm["AlarmName"]["Fn::Sub"].removeprefix("${Service} ") for alarm in of_payments.values()}
        self.assertEqual(names, {f"payments: {what}" for what in ("not applied", "overdue", "failing", "delayed", "dead letters")})
        self.assertEqual({name for name in ALARMS if "Payments" in name}, set(of_payments))
        waiting = [alarm for alarm in of_payments.values() if alarm["Namespace"] == "AWS/SQS"]
        self.assertEqual([(plain(alarm["Dimensions"][0]["Value"]), alarm["Threshold"]) for alarm in waiting], [(QUEUES[0], 3_600), (QUEUES[1], 0)])
        # The alarm above counts what payments log as well, so the errors of accounts must not.
        [commands] = [resource["Properties"] for name, resource in FILTERS.items() if name == "CommandErrorCount"]
        self.assertNotIn("payments", commands["FilterPattern"])

    def test_filters_count_messages_and_causes_that_functions_log(self):
        source = "".join(path.read_text() for folder in ("common", "functions") for path in (TEMPLATE.parent / folder).rglob("*.rs"))
        for name, resource in FILTERS.items():
            properties = resource["Properties"]
            for text in re.findall(r'\$\.(?:message|cause) = "([^"*]+)', properties["FilterPattern"]):
                self.assertIn(f'"{text}', source, name)
            is_of_access = properties["LogGroupName"] == reference("AccessLog")
            self.assertEqual(resource.get("Condition"), "HasAccessLog" if is_of_access else None, name)
            # The access log has numbers as texts.
            self.assertFalse(is_of_access and re.search(r"= \d", properties["FilterPattern"]), name)

    def test_the_dashboard_shows_metrics_that_exist(self):
        body = MONITORING["Resources"]["Dashboard"]["Properties"]["DashboardBody"]["Fn::Sub"]
        for widget in json.loads(re.sub(r"\$\{([A-Za-z:]+)\}", r"\1", body))["widgets"]:
            for namespace, metric, *dimensions, _ in (entry for entry in widget["properties"].get("metrics", []) if len(entry) > 1):
                self.expect_metric(namespace, metric, dict(zip(dimensions[::2], dimensions[1::2], strict=True)))
