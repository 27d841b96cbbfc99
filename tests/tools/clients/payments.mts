// Buys, renews and cancels subscriptions with events as EventBridge sends them, and checks the resulting accounts. The compiler checks the
// events against the types of Stripe's own library.

import assert from "node:assert/strict";
import Stripe from "stripe";

const { BASE_URL, LAMBDA_URL, LAPSED_KEY } = process.env as Record<string, string>;
const DAY = 86_400;
const NOW = Math.floor(Date.now() / 1_000);

type Outcome = "applied" | "unchanged" | "ignored";
type Event = Pick<Stripe.Event, "id" | "type" | "created" | "livemode"> & { data: { object: object } };
type Item = Pick<Stripe.SubscriptionItem, "current_period_start" | "current_period_end"> & { price: Pick<Stripe.Price, "id"> };
type Subscription = Pick<
    Stripe.Subscription,
    "id" | "customer" | "metadata" | "status" | "collection_method" | "pause_collection" | "cancel_at" | "cancel_at_period_end" | "ended_at"
> & {
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
        id: `sub_${customer}`, customer, metadata: {}, status: "active", collection_method: "charge_automatically", pause_collection: null,
        cancel_at: null, cancel_at_period_end: false, ended_at: null, cancellation_details: { reason: null }, items: { data: [item] }, ...changes,
    };
}

function invoice(customer: string, lines: [string, number, number][], metadata: Stripe.Metadata = {}): Invoice {
    const line = ([price, amount, period]: [string, number, number]): Line => ({
        amount, period: { start: month(period), end: month(period + 1) }, pricing: { price_details: { price, product: "prod_1" } },
    });
    return { customer, parent: { subscription_details: { metadata, subscription: `sub_${customer}` } }, lines: { data: lines.map(line) } };
}

let events = 0;
function event(type: Stripe.Event["type"], created: number, object: object): Event {
    events += 1;
    return { id: `evt_${events}`, type, created, livemode: false, data: { object } };
}

async function invoke(name: string, event: object) {
    const body = JSON.stringify(event);
    const response = await fetch(`${LAMBDA_URL}/2015-03-31/functions/${name}/invocations`, { method: "POST", body });
    return response.json();
}

async function send(sent: Event): Promise<Outcome> {
    const envelope = { "detail-type": sent.type, source: "aws.partner/stripe.com/ed_test_local", detail: sent };
    const response = await invoke("payments", envelope);
    assert.ok(response.outcome, JSON.stringify(response));
    return response.outcome;
}

/** The status, tier and end of the paid time of each subscription of the account, and whether it is allowed. `undefined` without an account. */
async function account(name: string) {
    const { result } = await invoke("accounts", { command: "get_account", account: name });
    const seconds = (time: string | null) => time && Date.parse(time) / 1_000;
    const view = ({ status, tier, paid_until }: Record<string, string | null>) => [status, tier, seconds(paid_until!)];
    return result && [...result.subscriptions.map(view), result.allowed];
}

/** Sends the event twice, and returns the account. The first must have this outcome, and the second must not change the account. */
async function twice(outcome: Outcome, sent: Event, name: string) {
    assert.equal(await send(sent), outcome, JSON.stringify(sent));
    const first = await account(name);
    assert.equal(await send(sent), outcome === "applied" ? "unchanged" : outcome, JSON.stringify(sent));
    assert.deepEqual(await account(name), first);
    return first;
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
        ["applied", updated({}, "price_starter", 1), [["active", "starter", paid(1)], true]],
        ["applied", invoiced([["price_starter", 900, 1]]), [["active", "starter", paid(1)], true]],
        // An upgrade refunds the rest of the old price.
        ["applied", updated({}, "price_pro", 1), [["active", "pro", paid(1)], true]],
        ["applied", invoiced([["price_starter", -450, 1], ["price_pro", 1_450, 1]]), [["active", "pro", paid(1)], true]],
        ["applied", updated({}, "price_pro", 2), [["active", "pro", paid(2)], true]],
        ["applied", invoiced([["price_pro", 2_900, 2]]), [["active", "pro", paid(2)], true]],
        // If the payment of a renewal fails, the account keeps the paid time and the grace time, and later only the paid time.
        ["applied", updated({}, "price_pro", 3), [["active", "pro", paid(3)], true]],
        ["applied", updated({ status: "past_due" }, "price_pro", 3), [["past_due", "pro", paid(2)], true]],
        ["applied", updated({ status: "unpaid" }, "price_pro", 3), [["unpaid", "pro", month(3)], true]],
        // A late payment of an old invoice.
        ["unchanged", invoiced([["price_pro", 2_900, 0]]), [["unpaid", "pro", month(3)], true]],
        ["applied", invoiced([["price_pro", 2_900, 3]]), [["unpaid", "pro", month(4)], true]],
        // A cancelled subscription has no grace time.
        ["applied", updated({ cancel_at: month(4), cancel_at_period_end: true }, "price_pro", 3), [["active", "pro", month(4)], true]],
        [
            "applied",
            event("customer.subscription.deleted", ++created, subscription(customer, "price_pro", 3, { status: "canceled", ended_at: month(4) })),
            [["ended", "pro", month(4)], true],
        ],
    ];
};
for (const [outcome, sent, expected] of life("cus_Forwards")) {
    assert.deepEqual(await twice(outcome, sent, "cus_Forwards"), expected, JSON.stringify(sent));
}
for (const [, sent] of life("cus_Backwards").reverse()) {
    await send(sent);
    assert.notEqual(await send(sent), "applied", JSON.stringify(sent));
    assert.deepEqual(await account("cus_Backwards"), [["ended", "pro", month(4)], true]);
}

// A cancellation at once ends the access, and a dispute, a pause and an unpaid sent invoice suspend it.
const bought = (customer: string, changes: Partial<Subscription> = {}) =>
    event("customer.subscription.created", NOW - 9, subscription(customer, "price_pro", 2, changes));
const ended = { status: "canceled", ended_at: NOW - 5 } as const;
const deleted = (customer: string, changes: Partial<Subscription>) =>
    event("customer.subscription.deleted", NOW - 5, subscription(customer, "price_pro", 2, { ...ended, ...changes }));
await twice("applied", bought("cus_Refunded"), "cus_Refunded");
await twice("ignored", event("charge.refunded", NOW - 6, { customer: "cus_Refunded", refunded: true }), "cus_Refunded");
assert.deepEqual(await twice("applied", deleted("cus_Refunded", {}), "cus_Refunded"), [["ended", "pro", NOW - 5], false]);
const disputed = deleted("cus_Disputed", { cancellation_details: { reason: "payment_disputed" } });
assert.equal((await twice("applied", disputed, "cus_Disputed")).at(-1), false);
const paused = event("customer.subscription.paused", NOW - 5, subscription("cus_Paused", "price_pro", 2, { status: "paused" }));
assert.equal((await twice("applied", paused, "cus_Paused")).at(-1), false);
const resumed = event("customer.subscription.resumed", NOW - 4, subscription("cus_Paused", "price_pro", 2));
assert.deepEqual(await twice("applied", resumed, "cus_Paused"), [["active", "pro", paid(2)], true]);
assert.equal((await twice("applied", bought("cus_Invoiced", { collection_method: "send_invoice" }), "cus_Invoiced")).at(-1), false);
const settled = event("invoice.paid", NOW - 3, invoice("cus_Invoiced", [["price_pro", 2_900, 2]]));
assert.deepEqual(await twice("applied", settled, "cus_Invoiced"), [["active", "pro", paid(2)], true]);
const collection = { behavior: "void", resumes_at: null } as const;
const uncollected = event("customer.subscription.updated", NOW - 2, subscription("cus_Invoiced", "price_pro", 3, { pause_collection: collection }));
assert.deepEqual(await twice("applied", uncollected, "cus_Invoiced"), [["collection_paused", "pro", paid(2)], true]);

// Events with an unknown price or an unlikely time, or an invoice without a subscription, are ignored.
for (const sent of [
    event("customer.subscription.created", NOW, subscription("cus_Nobody", "price_other", 2)),
    event("customer.subscription.created", NOW, subscription("cus_Nobody", "price_pro", 2_000_000)),
    event("invoice.paid", NOW, { ...invoice("cus_Nobody", [["price_pro", 2_900, 2]]), parent: null }),
]) {
    assert.equal(await twice("ignored", sent, "cus_Nobody"), undefined);
}
// If the metadata name no possible account, the account is the customer's.
for (const name of [LAPSED_KEY!, "#"]) {
    const customer = `cus_Named${name.length}`;
    const sent = bought(customer, { metadata: { account: name } });
    assert.deepEqual(await twice("applied", sent, customer), [["active", "pro", paid(2)], true]);
}

// The account that the metadata name now has access.
const metadata = { account: "local-lapsed" };
assert.equal(await send(event("invoice.paid", NOW, invoice("cus_Any", [["price_pro", 2_900, 2]], metadata))), "applied");
const { status } = await fetch(`${BASE_URL}/v1/mayor`, { headers: { "X-API-Key": LAPSED_KEY! } });
assert.equal(status, 200);
console.log(`Payments: ${events} events of API version ${Stripe.API_VERSION}`);
