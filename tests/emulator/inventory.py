"""Lists the resources of an account, to find the remains of a deleted stack."""

# By kind of resource: service, operation, name of the list in the response, and the entry's field with the resource's name.
# The field is None if the entries are the names.
LISTS = {
    "table": ("dynamodb", "list_tables", "TableNames", None),
    "function": ("lambda", "list_functions", "Functions", "FunctionName"),
    "log group": ("logs", "describe_log_groups", "logGroups", "logGroupName"),
    "role": ("iam", "list_roles", "Roles", "RoleName"),
    "API": ("apigateway", "get_rest_apis", "items", "id"),
    "usage plan": ("apigateway", "get_usage_plans", "items", "id"),
    "API key": ("apigateway", "get_api_keys", "items", "id"),
    "domain": ("apigateway", "get_domain_names", "items", "domainName"),
    "bucket": ("s3", "list_buckets", "Buckets", "Name"),
    "event bus": ("events", "list_event_buses", "EventBuses", "Name"),
    "archive": ("events", "list_archives", "Archives", "ArchiveName"),
    "consumer": ("lambda", "list_event_source_mappings", "EventSourceMappings", "UUID"),
    "queue": ("sqs", "list_queues", "QueueUrls", None),
    "topic": ("sns", "list_topics", "Topics", "TopicArn"),
    "schedule": ("scheduler", "list_schedules", "Schedules", "Name"),
    "alarm": ("cloudwatch", "describe_alarms", "MetricAlarms", "AlarmName"),
    "dashboard": ("cloudwatch", "list_dashboards", "DashboardEntries", "DashboardName"),
    "secret": ("secretsmanager", "list_secrets", "SecretList", "Name"),
}


def inventory(account):
    """Returns the resources of the account as pairs of kind and name."""
    found = set()
    for kind, (service, operation, key, name) in LISTS.items():
        listed = getattr(account.client(service), operation)().get(key, [])
        found |= {(kind, entry if name is None else entry[name]) for entry in listed}
    return found
