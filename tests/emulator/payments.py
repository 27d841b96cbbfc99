"""Sends events of payments as Stripe does, and checks what they change, also if they cannot be applied at first.

Only a partner can send to its event bus on AWS. The rule ignores the source of an event, so these events have another source."""

import contextlib
import json
import time
from datetime import datetime, timedelta, timezone

from cloud import STACK
from gateway_keys import gateway_keys
from policies import denied
from stack import eventually, expect

SOURCE = "aws.partner/stripe.com/ed_test/rehearsal"
# FreePlan is off at first, so an event with the price `price_free` fails until it is on.
PARAMETERS = {"StripeEventSource": SOURCE, "StripeTestMode": "on", "PriceTiers": "price_pro=pro,price_starter=starter,price_free=free"}
DAY = 86400
# API Gateway caches the authorizer's policy for 60 s.
SECONDS_TO_TAKE_EFFECT = 65


class Payments:
    """The customers' payments. Each customer has one subscription and one account."""

    def __init__(self, account):
        self.account, self.bus, self.queues = account, account.client("events"), account.client("sqs")
        # Periods begin and end at the same time of day. Each event is a second later than the one before.
        self.start = self.time = int(time.time()) - 3600
        self.keys = {}

    def create_destination(self):
        """Creates a destination, as Stripe does for its user: it creates the event source in the account of AWS."""
        identity = self.account.client("sts").get_caller_identity()
        self.bus.create_partner_event_source(Name=SOURCE, Account=identity["Account"])

    def event(self, name, status="active", price="price_pro", ends_in_days=30):
        """Returns Stripe's event about the subscription of the account `name`."""
        self.time += 1
        end = self.start + ends_in_days * DAY
        item = {"price": {"id": price}, "current_period_start": end - 30 * DAY, "current_period_end": end}
        subscription = {
            "id": f"sub_{name}", "object": "subscription", "customer": f"cus_{name}", "metadata": {"account": name}, "status": status,
            "collection_method": "charge_automatically", "items": {"object": "list", "data": [item]},
        }
        return {
            "id": f"evt_{self.time}", "object": "event", "type": "customer.subscription.updated", "created": self.time, "livemode": False,
            "data": {"object": subscription},
        }

    def send(self, event):
        """Sends the event to the bus."""
        entry = {"Source": "rehearsal", "DetailType": event["type"], "Detail": json.dumps(event), "EventBusName": SOURCE}
        result = self.bus.put_events(Entries=[entry])
        expect(result["FailedEntryCount"] == 0, f"the bus refuses an event: {result}")

    def deliver(self, event):
        """Sends the event, and waits until the queue is empty."""
        self.send(event)
        eventually(lambda: self.messages("PaymentsQueue") == 0, f"the event {event['id']} stays in the queue")

    def messages(self, queue):
        """Returns the number of messages in the queue of this output, including those that a consumer has received."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        found = self.queues.get_queue_attributes(QueueUrl=self.account.outputs()[queue], AttributeNames=names)["Attributes"]
        return sum(int(found[name]) for name in names)

    def function(self):
        """Returns the configuration of the consumer."""
        return self.account.client("lambda").get_function_configuration(FunctionName=self.mapping()["FunctionArn"])

    def has_failed(self):
        """Returns whether the last invocation with an event from the queue failed."""
        return self.mapping()["LastProcessingResult"] == "FAILED"

    def mapping(self):
        """Returns what connects the queue with its consumer."""
        arn = self.arn("PaymentsQueue")
        [mapping] = self.account.client("lambda").list_event_source_mappings(EventSourceArn=arn)["EventSourceMappings"]
        return mapping

    def arn(self, queue):
        """Returns the ARN of the queue of this output."""
        found = self.queues.get_queue_attributes(QueueUrl=self.account.outputs()[queue], AttributeNames=["QueueArn"])
        return found["Attributes"]["QueueArn"]

    def invoke(self, event):
        """Invokes the function with the event as EventBridge writes it, without the queue. Returns 500 if the function fails."""
        payload = json.dumps({"source": SOURCE, "detail-type": event["type"], "detail": event})
        result = self.account.client("lambda").invoke(FunctionName=self.mapping()["FunctionArn"], Payload=payload)
        return 500 if "FunctionError" in result else result["StatusCode"]

    @contextlib.contextmanager
    def impatient_queue(self, receives=480):
        """Within the `with` block, an event returns after 5 s, and goes to the dead-letter queue after `receives`."""
        url, names = self.account.outputs()["PaymentsQueue"], ["VisibilityTimeout", "RedrivePolicy"]
        usual = self.queues.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
        redrive = json.loads(usual["RedrivePolicy"])
        changed = {"VisibilityTimeout": "5", "RedrivePolicy": json.dumps(redrive | {"maxReceiveCount": receives})}
        self.queues.set_queue_attributes(QueueUrl=url, Attributes=changed)
        yield
        self.queues.set_queue_attributes(QueueUrl=url, Attributes=usual)

    def issue_key(self, name):
        self.keys[name] = self.account.admin("key", "issue", name, "--label", "payments").strip()

    def status_of_key(self, name):
        return self.account.get("/v1/mayor", self.keys[name]).status

    def lines(self, message):
        """Returns the lines with this message in the log of accounts."""
        group = self.account.outputs()["AccountsLog"]
        pages = self.account.client("logs").get_paginator("filter_log_events").paginate(logGroupName=group)
        texts = [event["message"] for page in pages for event in page["events"]]
        return [line for text in texts if text.startswith("{") and (line := json.loads(text))["message"] == message]

    # Each method below is a step.

    def decide(self):
        """Follows infra/README.md, Sell access."""
        responses = {"active": 200, "unpaid": 403}
        lives = {"payer": ("active", "unpaid"), "returning": ("unpaid", "active")}
        for name, (status, _) in lives.items():
            self.deliver(self.event(name, status))
            self.issue_key(name)
            response = self.status_of_key(name)
            expect(response == responses[status], f"a key of an account that is {status} gets a {response}")
        for name, (_, status) in lives.items():
            self.send(self.event(name, status))
        eventually(
            lambda: all(self.status_of_key(name) == responses[status] for name, (_, status) in lives.items()),
            f"{SECONDS_TO_TAKE_EFFECT} s after an event, a key has not changed",
            SECONDS_TO_TAKE_EFFECT,
        )
        for tier in ("starter", "pro"):
            self.deliver(self.event("payer", price=f"price_{tier}"))
            found = gateway_keys(self.account, "payer")
            expect(found.keys() == {"starter", "pro"}, f"an account that pays for {tier} has the keys {found} in API Gateway")
            usage = json.loads(self.account.admin("account", "usage", "payer", "--json"))
            expect(usage["tier"] == tier, f"the usage of an account that pays for {tier} is {usage}")

    def repeat(self):
        """Denies the table while an event is delivered. The event is sent once."""
        with self.impatient_queue():
            with denied(self.account, self.function(), "dynamodb:*"):
                self.send(self.event("repeated"))
                eventually(self.has_failed, "the function does not fail without its table")
            eventually(lambda: self.messages("PaymentsQueue") == 0, "the event does not return")
        expect(self.messages("PaymentsDeadLetters") == 0, "the event is in the dead-letter queue")
        self.issue_key("repeated")
        expect(self.status_of_key("repeated") == 200, "a key of an account that has paid does not work")

    def give_up(self):
        """Sends an event that fails each time, because its tier is not offered."""
        with self.impatient_queue(receives=2):
            self.send(self.event("early", price="price_free"))
            eventually(lambda: self.messages("PaymentsDeadLetters") == 1, "the event is not in the dead-letter queue")
        expect(self.messages("PaymentsQueue") == 0, "the event is also in the queue")

    def refuse_unreadable(self):
        """Sends an event without its object, as a destination for thin events does. Repeating it would not help."""
        before = len(self.lines("payment not applied"))
        thin = {"id": "evt_thin", "object": "v2.core.event", "type": "customer.subscription.updated", "created": "2026-11-01T00:00:00.000Z"}
        self.deliver(thin | {"related_object": {"id": "sub_payer", "type": "subscription", "url": "/v1/subscriptions/sub_payer"}})
        refused = lambda: self.lines("payment not applied")[before:]
        [line] = eventually(refused, "an event that cannot be read leaves no line")
        expect("choose snapshot events" in line["cause"], f"the line is {line}")
        expect(self.messages("PaymentsDeadLetters") == 1, "an event that cannot be read is in the dead-letter queue")

    def find_overdue(self):
        """Reports a subscription as active whose period has ended ten days ago, and which no later event renews."""
        self.deliver(self.event("overdue", ends_in_days=-10))
        payload = json.dumps({"command": "check_payments"})
        for expected in (1, 0):
            reply = self.account.client("lambda").invoke(FunctionName=self.account.outputs()["AccountsFunction"], Payload=payload)
            result = json.load(reply["Payload"])["result"]
            expect(result["overdue"] == expected, f"{expected} subscriptions are overdue, but the result is {result}")
        [line] = eventually(lambda: self.lines("payment overdue"), "an overdue subscription leaves no line")
        expect((line["account"], line["subscription"]) == ("overdue", "sub_overdue"), f"the line is {line}")

    def deliver_again(self):
        """Follows infra/README.md, Missed events, after the tier is offered."""
        self.queues.start_message_move_task(SourceArn=self.arn("PaymentsDeadLetters"), DestinationArn=self.arn("PaymentsQueue"))
        eventually(lambda: self.messages("PaymentsDeadLetters") + self.messages("PaymentsQueue") == 0, "the event stays in a queue")
        found = gateway_keys(self.account, "early")
        expect(found.keys() == {"free"}, f"the account of an event that is delivered again has the keys {found} in API Gateway")

    def replay(self):
        """Follows infra/README.md, Missed events. The archive has every event of this run, and no account changes."""
        exported = lambda: sorted(self.account.admin("account", "export", "-").splitlines())
        before, unreadable = exported(), len(self.lines("payment not applied"))
        resource = self.account.client("cloudformation").describe_stack_resource(StackName=STACK, LogicalResourceId="PaymentsArchive")
        archive = self.bus.describe_archive(ArchiveName=resource["StackResourceDetail"]["PhysicalResourceId"])
        now = datetime.now(timezone.utc)
        self.bus.start_replay(
            ReplayName="rehearsal", EventSourceArn=archive["ArchiveArn"], Destination={"Arn": archive["EventSourceArn"]},
            EventStartTime=now - timedelta(hours=1), EventEndTime=now,
        )
        eventually(lambda: self.bus.describe_replay(ReplayName="rehearsal")["State"] == "COMPLETED", "the replay does not end")
        eventually(lambda: self.messages("PaymentsQueue") == 0, "replayed events stay in the queue")
        eventually(lambda: len(self.lines("payment not applied")) > unreadable, "no event is replayed")
        expect(exported() == before, f"a replay changes accounts: {before}, then {exported()}")
