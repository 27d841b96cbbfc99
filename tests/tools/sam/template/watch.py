"""Asserts what must be true of infra/monitoring.yaml.

An alarm that watches nothing looks like one that has nothing to say: CloudWatch accepts any name of a metric or a
dimension, and never tells that there is no such thing.
"""

import json
import re
import unittest

from deployed import FUNCTIONS, NOTHING, RESOURCES, SOURCE, WATCH, attribute, either, is_given, of_type, reference

# What the nested template is told. A metric knows an API by its name, and a queue too: neither an identifier nor a URL.
TOLD = {
    "Service": reference("AWS::StackName"),
    "ApiName": RESOURCES["Api"]["Properties"]["Name"],
    "Stage": RESOURCES["ApiStage"]["Properties"]["StageName"],
    "FunctionLog": reference("FunctionLog"),
    "AccessLog": reference("AccessLog"),
    "RecordBazaar": reference(FUNCTIONS["record-bazaar"][0]),
    "RecordFireSales": reference(FUNCTIONS["record-fire-sales"][0]),
    "RecordMayor": reference(FUNCTIONS["record-mayor"][0]),
    "Authorizer": reference(FUNCTIONS["authorizer"][0]),
    "HistoryTable": reference("History"),
    "AccessTable": reference("Access"),
    "DeadLetters": attribute("DeadLetters", "QueueName"),
    "AlarmEmail": reference("AlarmEmail"),
}


def metric(namespace, name, **dimensions):
    """A metric, and the parameter that each of its dimensions has the value of."""
    described = {"Namespace": namespace, "MetricName": name}
    if dimensions:
        described["Dimensions"] = [{"Name": of, "Value": reference(value)} for of, value in dimensions.items()]
    return described


def single(watched, statistic, period):
    return {**watched, "Statistic": statistic, "Period": period}


def calculated(expression, period, **metrics):
    """What the expression makes of the metrics' sums; only its result is compared."""
    sums = [
        {"Id": name, "ReturnData": False, "MetricStat": {"Metric": watched, "Period": period, "Stat": "Sum"}}
        for name, watched in metrics.items()
    ]
    return {"Metrics": [{"Expression": expression}, *sums]}


def alarm(watched, comparison="GreaterThanThreshold", threshold=0, points=1, of=1, missing="notBreaching"):
    return {
        **watched,
        "ComparisonOperator": comparison,
        "Threshold": threshold,
        "DatapointsToAlarm": points,
        "EvaluationPeriods": of,
        "TreatMissingData": missing,
    }


AUTHORIZER_ERRORS = metric(reference("Service"), "AuthorizerErrors")
ALARMS = {
    # The average of this metric is a share; its other statistics are numbers of requests.
    "ServerErrors": alarm(
        single(metric("AWS/ApiGateway", "5XXError", ApiName="ApiName", Stage="Stage"), "Average", 300),
        threshold=0.05, points=2, of=3,
    ),
    "AuthorizerErrors": alarm(single(AUTHORIZER_ERRORS, "Sum", 60), points=2, of=5),
    "LostEvents": alarm(
        single(metric("AWS/SQS", "ApproximateNumberOfMessagesVisible", QueueName="DeadLetters"), "Maximum", 300)
    ),
}
# Each recorder, and after how many seconds without a success it is missed.
RECORDERS = {"RecordBazaar": 300, "RecordFireSales": 300, "RecordMayor": 900}
for recorder, patience in RECORDERS.items():
    invocations, errors = (metric("AWS/Lambda", name, FunctionName=recorder) for name in ("Invocations", "Errors"))
    # A recorder that is never started has no data at all, and that is the worst.
    ALARMS[recorder + "Silent"] = alarm(
        calculated("FILL(invocations, 0) - FILL(errors, 0)", patience, invocations=invocations, errors=errors),
        comparison="LessThanThreshold", threshold=1, missing="breaching",
    )
    ALARMS[recorder + "Failing"] = alarm(single(errors, "Sum", 60), points=3, of=10)
for table in ("History", "Access"):
    events = ("ReadThrottleEvents", "WriteThrottleEvents")
    reads, writes = (metric("AWS/DynamoDB", name, TableName=table + "Table") for name in events)
    ALARMS[table + "Throttled"] = alarm(calculated("FILL(reads, 0) + FILL(writes, 0)", 300, reads=reads, writes=writes))

# The logs that the authorizer's errors are counted in, and how they are found there.
FILTERS = {
    "FunctionLog": '{ $.function = "authorizer" && $.level = "ERROR" }',
    "AccessLog": '{ $.error = "AUTHORIZER_FAILURE" || $.error = "AUTHORIZER_CONFIGURATION_ERROR" }',
}

# What the dashboard shows: the metrics of a namespace, and the parameters that a dimension may have the value of.
SHOWN = {
    "AWS/ApiGateway": (
        {"Count", "4XXError", "5XXError", "Latency", "CacheHitCount", "CacheMissCount"},
        {"ApiName": {"ApiName"}, "Stage": {"Stage"}},
    ),
    "AWS/Lambda": ({"Invocations", "Errors", "Duration"}, {"FunctionName": {"Authorizer", *RECORDERS}}),
    "AWS/DynamoDB": (
        {"ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits"},
        {"TableName": {"HistoryTable", "AccessTable"}},
    ),
    "AWS/SQS": ({"ApproximateNumberOfMessagesVisible"}, {"QueueName": {"DeadLetters"}}),
    "Service": ({"AuthorizerErrors"}, {}),
}


class Watch(unittest.TestCase):
    def test_the_nested_template_is_told_what_it_asks_for(self):
        told = RESOURCES["Watch"]["Properties"]["Parameters"]
        self.assertEqual(set(told), set(WATCH["Parameters"]))
        self.assertEqual(told, TOLD)
        used = set(re.findall(r"'Outputs\.(\w+)'", str(SOURCE["Outputs"])))
        self.assertEqual(used, set(WATCH["Outputs"]))

    def test_whoever_gave_an_address_gets_a_mail(self):
        self.assertEqual(WATCH["Conditions"], {"HasEmail": is_given("AlarmEmail")})
        topic = WATCH["Resources"]["Alarms"]
        self.assertEqual(topic["Condition"], "HasEmail")
        subscription = {"Protocol": "email", "Endpoint": reference("AlarmEmail")}
        self.assertEqual(topic["Properties"]["Subscription"], [subscription])


class Alarms(unittest.TestCase):
    def alarms(self):
        alarms = of_type("AWS::CloudWatch::Alarm", WATCH["Resources"])
        return {name: dict(resource["Properties"]) for name, resource in alarms.items()}

    def test_every_alarm_tells_somebody_and_says_what_to_do(self):
        names = set()
        for name, properties in self.alarms().items():
            for actions in ("AlarmActions", "OKActions"):
                self.assertEqual(properties[actions], either("HasEmail", [reference("Alarms")], NOTHING), name)
            self.assertIn("README", properties["AlarmDescription"], name)
            names.add(properties["AlarmName"]["Fn::Sub"])
            self.assertTrue(properties["AlarmName"]["Fn::Sub"].startswith("${Service} "), name)
        self.assertEqual(len(names), len(ALARMS))

    def test_every_alarm_watches_what_there_is_and_rings_when_it_should(self):
        alarms = self.alarms()
        self.assertEqual(set(alarms), set(ALARMS))
        for name, properties in alarms.items():
            for told in ("AlarmName", "AlarmDescription", "AlarmActions", "OKActions"):
                del properties[told]
            properties.setdefault("DatapointsToAlarm", properties["EvaluationPeriods"])
            if "Metrics" in properties:
                result, *sums = properties["Metrics"]
                properties["Metrics"] = [{"Expression": result["Expression"]}, *sums]
            # Nothing beside: a unit, or actions that are off, would keep an alarm quiet.
            self.assertEqual(properties, ALARMS[name], name)

    def test_the_authorizers_errors_are_counted_under_the_name_that_its_alarm_watches(self):
        filters = {}
        for name, resource in of_type("AWS::Logs::MetricFilter", WATCH["Resources"]).items():
            properties = resource["Properties"]
            filters[properties["LogGroupName"]["Ref"]] = properties["FilterPattern"]
            [counted] = properties["MetricTransformations"]
            self.assertEqual(counted["MetricNamespace"], AUTHORIZER_ERRORS["Namespace"], name)
            self.assertEqual(counted["MetricName"], AUTHORIZER_ERRORS["MetricName"], name)
            self.assertEqual((counted["MetricValue"], counted["DefaultValue"]), ("1", 0), name)
        self.assertEqual(filters, FILTERS)


class Dashboard(unittest.TestCase):
    def test_the_dashboard_is_where_the_output_says(self):
        self.assertEqual(WATCH["Resources"]["Dashboard"]["Properties"]["DashboardName"], reference("Service"))
        address = WATCH["Outputs"]["DashboardAddress"]["Value"]["Fn::Sub"]
        self.assertTrue(address.endswith("#dashboards:name=${Service}"), address)

    def widgets(self):
        body = WATCH["Resources"]["Dashboard"]["Properties"]["DashboardBody"]["Fn::Sub"]
        return [widget["properties"] for widget in json.loads(re.sub(r"\$\{([A-Za-z:]+)\}", r"\1", body))["widgets"]]

    def test_the_dashboard_shows_metrics_that_there_are(self):
        shown = {}
        for widget in self.widgets():
            for namespace, name, *dimensions, _ in widget["metrics"]:
                shown.setdefault(namespace, set()).add(name)
                values = dict(zip(dimensions[::2], dimensions[1::2], strict=True))
                self.assertEqual(set(values), set(SHOWN[namespace][1]), widget["title"])
                for dimension, value in values.items():
                    self.assertIn(value, SHOWN[namespace][1][dimension], widget["title"])
        self.assertEqual(shown, {namespace: names for namespace, (names, _) in SHOWN.items()})

    def test_what_the_dashboard_shows_of_recorders_it_shows_of_each(self):
        widgets = [widget for widget in self.widgets() if widget["title"].startswith("Recorders")]
        self.assertEqual(len(widgets), 3)
        for widget in widgets:
            self.assertEqual([entry[3] for entry in widget["metrics"]], list(RECORDERS), widget["title"])
