// Buys, renews and cancels subscriptions with events that Stripe's own library signs, and checks the resulting accounts. The compiler checks
// the events against the library's types.

import assert from "node:assert/strict";
import Stripe from "stripe";

const { BASE_URL, DYNAMODB_URL, LAPSED_KEY } = process.env as Record<string, string>;
const SECRET = "whsec_local_cloud";
const DAY = 86_400;
const NOW = Math.floor(Date.now() / 1_000);
const stripe = new Stripe("sk_test_local");

type Outcome = "applied" | "outdated" | "ignored";
type Event = { id: string; type: Stripe.Event["type"]; created: number; data: { object: object } };
type Item = Pick<Stripe.SubscriptionItem, "current_period_start" | "current_period_end"> & { price: Pick<Stripe.Price, "id"> };
type Subscription = Pick<Stripe.Subscription, "customer" | "metadata" | "status" | "cancel_at" | "cancel_at_period_end" | "ended_at"> & {
    cancellation_details: Pick<Stripe.Subscription.CancellationDetails, "reason">;
    items: { data: Item[] };
};
type Line = Pick<Stripe.InvoiceLineItem, "amount" | "period"> & { pricing: Pick<Stripe.InvoiceLineItem.Pricing, "price_details"> };
type Invoice = Pick<Stripe.Invoice, "customer"> & {
    parent: { subscription_details: Pick<Stripe.Invoice.Parent.SubscriptionDetails, "metadata" | "subscription"> } | null;
    lines: { data: Line[] };
};

// Months have thirty days. Month 0 began two months ago.
const month = (number: number) => NOW + (number - 2) * 30 * DAY;
const paid = (number: number) => month(number + 1) + 3 * DAY;

function subscription(customer: string, price: string, period: number, changes: Partial<Subscription> = {}): Subscription {
    const item = { price: { id: price }, current_period_start: month(period), current_period_end: month(period + 1) };
    return {
        customer, metadata: {}, status: "active", cancel_at: null, cancel_at_period_end: false, ended_at: null,
        cancellation_details: { reason: null }, items: { data: [item] }, ...changes,
    };
}

function invoice(customer: string, lines: [string, number, number][], metadata: Stripe.Metadata = {}): Invoice {
    const line = ([price, amount, period]: [string, number, number]): Line => ({
        amount, period: { start: month(period), end: month(period + 1) }, pricing: { price_details: { price, product: "prod_1" } },
    });
    return { customer, parent: { subscription_details: { metadata, subscription: "sub_1" } }, lines: { data: lines.map(line) } };
}

let events = 0;
function event(type: Stripe.Event["type"], created: number, object: object): Event {
    events += 1;
    return { id: `evt_${events}`, type, created, data: { object } };
}

function signed(payload: string, secret = SECRET, timestamp = NOW): string {
    const header = stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
    stripe.webhooks.constructEvent(payload, header, secret, 3_600);
    return header;
}

async function post(payload: string, signature?: string): Promise<Response> {
    const headers: Record<string, string> = signature === undefined ? {} : { "Stripe-Signature": signature };
    return fetch(`${BASE_URL}/webhooks/stripe`, { method: "POST", body: payload, headers });
}

async function send(sent: Event): Promise<Outcome> {
    const payload = JSON.stringify(sent);
    const response = await post(payload, signed(payload));
    const body = await response.json();
    assert.equal(response.status, 200, JSON.stringify(body));
    return body.data;
}

/** Sends the event twice, expects this outcome each time, and returns the account. The second event must not change the account. */
async function twice(outcome: Outcome, sent: Event, name: string) {
    assert.equal(await send(sent), outcome, sent.type);
    const first = await account(name);
    assert.equal(await send(sent), outcome, sent.type);
    assert.deepEqual(await account(name), first);
    return first;
}

/** The account's tier, status and end of the paid time. `undefined` if there is no account. */
async function account(name: string) {
    const response = await fetch(DYNAMODB_URL, {
        method: "POST",
        headers: {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": "DynamoDB_20120810.GetItem",
            "X-Amz-Date": "20260428T150000Z",
            Authorization:
                "AWS4-HMAC-SHA256 Credential=test/20260428/eu-central-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=0000",
        },
        body: JSON.stringify({ TableName: "Access", Key: { pk: { S: `account#${name}` } } }),
    });
    const { Item: row } = await response.json();
    return row && [row.tier.S, row.status.S, Number(row.paid_until.N)];
}

// The events of one customer, from the first payment to the end. Each event is a second after the previous one.
const life = (customer: string): [Outcome, Event, unknown][] => {
    let created = NOW - 100;
    const updated = (changes: Partial<Subscription>, price: string, period: number) =>
        event("customer.subscription.updated", ++created, subscription(customer, price, period, changes));
    const invoiced = (lines: [string, number, number][]) => event("invoice.paid", ++created, invoice(customer, lines));
    const first = { status: "incomplete" } as const;
    return [
        ["ignored", event("customer.subscription.created", created, subscription(customer, "price_starter", 1, first)), undefined],
        ["applied", updated({}, "price_starter", 1), ["starter", "active", paid(1)]],
        ["applied", invoiced([["price_starter", 900, 1]]), ["starter", "active", paid(1)]],
        // An upgrade refunds the rest of the old price.
        ["applied", updated({}, "price_pro", 1), ["pro", "active", paid(1)]],
        ["applied", invoiced([["price_starter", -450, 1], ["price_pro", 1_450, 1]]), ["pro", "active", paid(1)]],
        ["applied", updated({}, "price_pro", 2), ["pro", "active", paid(2)]],
        ["applied", invoiced([["price_pro", 2_900, 2]]), ["pro", "active", paid(2)]],
        // If the payment of a renewal fails, the account keeps the paid time and the grace time. Later it is suspended.
        ["applied", updated({}, "price_pro", 3), ["pro", "active", paid(3)]],
        ["applied", updated({ status: "past_due" }, "price_pro", 3), ["pro", "active", paid(2)]],
        ["applied", updated({ status: "unpaid" }, "price_pro", 3), ["pro", "suspended", month(3)]],
        // A late payment of an old invoice.
        ["ignored", invoiced([["price_pro", 2_900, 0]]), ["pro", "suspended", month(3)]],
        ["applied", invoiced([["price_pro", 2_900, 3]]), ["pro", "active", paid(3)]],
        // A cancelled subscription has no grace time.
        ["applied", updated({ cancel_at: month(4), cancel_at_period_end: true }, "price_pro", 3), ["pro", "active", month(4)]],
        [
            "applied",
            event("customer.subscription.deleted", ++created, subscription(customer, "price_pro", 3, { status: "canceled", ended_at: month(4) })),
            ["pro", "active", month(4)],
        ],
    ];
};
for (const [outcome, sent, expected] of life("cus_Forwards")) {
    assert.deepEqual(await twice(outcome, sent, "cus_Forwards"), expected, JSON.stringify(sent));
}
const [newest, ...older] = life("cus_Backwards").reverse();
for (const [outcome, sent] of [newest!, ...older]) {
    const expected = outcome === "applied" && sent !== newest![1] ? "outdated" : outcome;
    assert.deepEqual(await twice(expected, sent, "cus_Backwards"), ["pro", "active", month(4)]);
}

// A refund cancels at once. A dispute suspends the account.
const bought = (customer: string) => event("customer.subscription.created", NOW - 9, subscription(customer, "price_pro", 2));
const ended = { status: "canceled", ended_at: NOW - 5 } as const;
const deleted = (customer: string, changes: Partial<Subscription>) =>
    event("customer.subscription.deleted", NOW - 5, subscription(customer, "price_pro", 2, { ...ended, ...changes }));
await twice("applied", bought("cus_Refunded"), "cus_Refunded");
await twice("ignored", event("charge.refunded", NOW - 6, { customer: "cus_Refunded", refunded: true }), "cus_Refunded");
assert.deepEqual(await twice("applied", deleted("cus_Refunded", {}), "cus_Refunded"), ["pro", "active", NOW - 5]);
// The end of a subscription wins over a change in the same second.
const changed = event("customer.subscription.updated", NOW - 5, subscription("cus_Refunded", "price_pro", 2));
assert.deepEqual(await twice("outdated", changed, "cus_Refunded"), ["pro", "active", NOW - 5]);
const disputed = deleted("cus_Disputed", { cancellation_details: { reason: "payment_disputed" } });
assert.deepEqual(await twice("applied", disputed, "cus_Disputed"), ["pro", "suspended", month(2)]);

// Events with an unknown price, an invalid account name, or an invoice without a subscription are ignored.
for (const sent of [
    event("customer.subscription.created", NOW, subscription("cus_Nobody", "price_other", 2)),
    event("customer.subscription.created", NOW, subscription("cus_Nobody", "price_pro", 2_000_000)),
    event("customer.subscription.created", NOW, subscription("cus_Nobody", "price_pro", 2, { metadata: { account: LAPSED_KEY! } })),
    event("customer.subscription.created", NOW, subscription("cus_Nobody", "price_pro", 2, { metadata: { account: "#" } })),
    event("invoice.paid", NOW, { ...invoice("cus_Nobody", [["price_pro", 2_900, 2]]), parent: null }),
]) {
    assert.equal(await twice("ignored", sent, "cus_Nobody"), undefined);
}

// A signature is refused if it is missing or late, or if it is for another body or another secret. During a rotation of the secret, the
// header has two signatures.
const payload = JSON.stringify(bought("cus_Signed"));
const large = JSON.stringify({ ...bought("cus_Signed"), padding: "x".repeat(256 * 1_024) });
for (const [body, header] of [
    [payload, undefined],
    [payload, ""],
    [payload, signed(payload, "whsec_other")],
    [payload, signed(payload, SECRET, NOW - 400)],
    [payload, signed(JSON.stringify(bought("cus_Other")))],
    [large, signed(large)],
] as const) {
    const response = await post(body, header);
    const { error } = await response.json();
    assert.deepEqual([response.status, error.code], [400, "BAD_REQUEST"], error.message);
}
assert.equal(await account("cus_Signed"), undefined);
const [, other] = signed(payload, "whsec_other").split(",");
const [time, own] = signed(payload).split(",");
assert.equal((await post(payload, `${time},${other},${own}`)).status, 200);
assert.deepEqual(await account("cus_Signed"), ["pro", "active", paid(2)]);

// The account that the metadata names now has access.
const metadata = { account: "local-lapsed" };
assert.equal(await send(event("invoice.paid", NOW + 60, invoice("cus_Any", [["price_pro", 2_900, 2]], metadata))), "applied");
const { status } = await fetch(`${BASE_URL}/v1/mayor`, { headers: { "X-API-Key": LAPSED_KEY! } });
assert.equal(status, 200);
console.log(`Payments: ${events} events of API version ${Stripe.API_VERSION}`);
