//! Random lives of up to three subscriptions of an account, whose events arrive repeated, late and shuffled.
//! The model knows only what was paid for and until when. An account must never be denied in its paid time,
//! and never be allowed more than was paid, apart from the grace time and from periods whose payment Stripe
//! has not tried yet.
//!
//! `LIVES_SEED` repeats the lives of a run, which prints its seed.

use std::collections::BTreeSet;
use std::io::Write as _;

use fastrand::Rng;
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};

use super::stripe::{
    CREATED, DELETED, Event, Item, PAID, PAUSED, RESUMED, UPDATED, event, invoice, subscription, with,
};
use super::{DAY, GRACE, HOUR, Shop, day};
use crate::support::one_instance_each;

const LIVES: u64 = 40;
const DAYS: i64 = 240;
const MOST_EVENTS: usize = 14;
const STARTER: &str = "price_starter";
const PRO: &str = "price_pro";
/// The lengths of a period in days.
const LENGTHS: [i64; 2] = [30, 100];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Incomplete,
    Trialing,
    Active,
    CollectionPaused,
    PastDue,
    Unpaid,
    Paused,
    Ended,
}

impl Status {
    const fn name(self) -> &'static str {
        match self {
            Self::Incomplete => "incomplete",
            Self::Trialing => "trialing",
            Self::Active | Self::CollectionPaused => "active",
            Self::PastDue => "past_due",
            Self::Unpaid => "unpaid",
            Self::Paused => "paused",
            Self::Ended => "canceled",
        }
    }
}

/// What is known about the time of one price.
#[derive(Debug, Clone, Copy)]
struct Claim {
    price: &'static str,
    /// Until when it is paid, and therefore must be allowed. 0 if it is not paid.
    owed_until: i64,
    /// Until when it may be allowed.
    most_until: i64,
}

/// A line of an invoice: an amount in cents, and its item.
type Line = (i64, Item<'static>);

/// A subscription as Stripe has it.
struct Billed {
    id: String,
    price: &'static str,
    status: Status,
    /// The status of the last event.
    reported: Status,
    start: i64,
    end: i64,
    length: i64,
    cancels: bool,
    /// The lines of the invoice that is not paid.
    open: Vec<Line>,
    claims: Vec<Claim>,
}

impl Billed {
    /// Forgets the hope that the present period is paid. An earlier period that Stripe reported as active to
    /// its end still counts.
    fn forget_hope(&mut self) {
        let reached = self.start + GRACE;
        self.claims.retain(|claim| claim.owed_until > 0 || claim.most_until <= reached);
    }

    /// Whether an upgrade in the present period is not paid, which changed no period.
    fn has_declined_upgrade(&self) -> bool {
        matches!(&self.open[..], [(_, (_, at, _)), (_, (_, _, end))] if self.start < *at && *end == self.end)
    }
}

/// What happens next to a subscription, by its index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    Buy,
    /// The period ends.
    Renew(usize),
    /// Stripe charges the renewal.
    Charge(usize),
    /// Stripe or the customer tries a failed payment again.
    Retry(usize),
    /// The customer or the operator changes the subscription.
    Change(usize),
}

/// An event, and what is known about the account after it.
struct Step {
    event: Event,
    at: i64,
    claims: Vec<Claim>,
}

struct Life {
    rng: Rng,
    time: i64,
    agenda: BTreeSet<(i64, Next)>,
    subscriptions: Vec<Billed>,
    steps: Vec<Step>,
}

impl Life {
    fn new(seed: u64) -> Self {
        let mut life = Self {
            rng: Rng::with_seed(seed),
            time: day(0),
            agenda: BTreeSet::new(),
            subscriptions: Vec::new(),
            steps: Vec::new(),
        };
        life.agenda.insert((day(0), Next::Buy));
        for _ in 0..life.rng.usize(..=2) {
            let bought_at = day(life.rng.i64(1..DAYS)) + life.rng.i64(0..DAY);
            life.agenda.insert((bought_at, Next::Buy));
        }
        while let Some((time, next)) = life.agenda.pop_first() {
            if time > day(DAYS) || life.steps.len() > MOST_EVENTS {
                break;
            }
            life.time = time.max(life.time);
            match next {
                Next::Buy => life.buy(),
                Next::Renew(index) => life.renew(index, time),
                Next::Charge(index) => life.charge(index),
                Next::Retry(index) => life.retry(index),
                Next::Change(index) => life.change(index),
            }
        }
        life
    }

    /// Schedules what happens next, in a number of seconds.
    fn plan(&mut self, seconds: i64, next: Next) {
        self.agenda.insert((self.time + seconds, next));
    }

    fn plan_change(&mut self, index: usize) {
        let seconds = self.rng.i64(DAY..20 * DAY);
        self.plan(seconds, Next::Change(index));
    }

    /// Reports the subscription as it is now.
    fn report(&mut self, kind: &str, index: usize) {
        let of = &mut self.subscriptions[index];
        let object = subscription(&of.id, "zoe", &[(of.price, of.start, of.end)]);
        let previous = std::mem::replace(&mut of.reported, of.status).name();
        let changed = if previous == of.status.name() { json!({}) } else { json!({"status": previous}) };
        let is_paused = of.status == Status::CollectionPaused;
        let fields = json!({
            "status": of.status.name(),
            "pause_collection": is_paused.then(|| json!({"behavior": "void", "resumes_at": null})),
            "cancel_at": of.cancels.then_some(of.end), "cancel_at_period_end": of.cancels,
        });
        let event = event(kind, self.time, &with(&object, fields));
        self.push(if kind == CREATED { event } else { event.changed_from(&changed) });
    }

    /// Reports that the subscription has ended now for this reason.
    fn report_end(&mut self, index: usize, reason: &str) {
        let of = &mut self.subscriptions[index];
        of.status = Status::Ended;
        let details = json!({"comment": null, "feedback": null, "reason": reason});
        let fields = json!({"status": "canceled", "ended_at": self.time, "cancellation_details": details});
        let object = subscription(&of.id, "zoe", &[(of.price, of.start, of.end)]);
        self.push(event(DELETED, self.time, &with(&object, fields)));
    }

    /// Reports that lines are paid, after the claims have changed accordingly.
    fn report_paid(&mut self, index: usize, lines: &[Line]) {
        let of = &self.subscriptions[index];
        let object = subscription(&of.id, "zoe", &[(of.price, of.start, of.end)]);
        self.push(event(PAID, self.time, &invoice(&object, lines)));
    }

    fn push(&mut self, event: Event) {
        let claims = self.subscriptions.iter().flat_map(|of| of.claims.clone()).collect();
        self.steps.push(Step { event, at: self.time, claims });
    }

    /// Pays these lines, which replaces the hope for their payment.
    fn pay(&mut self, index: usize, lines: &[Line]) {
        let of = &mut self.subscriptions[index];
        of.forget_hope();
        let paid = lines.iter().filter(|(amount, _)| *amount > 0);
        of.claims.extend(paid.map(|(_, (price, _, end))| Claim::paid(price, *end)));
        self.report_paid(index, lines);
    }

    fn buy(&mut self) {
        let [price, other] = if self.rng.bool() { [STARTER, PRO] } else { [PRO, STARTER] };
        let length = LENGTHS[self.rng.usize(..2)] * DAY;
        let status =
            [Status::Active, Status::Active, Status::Incomplete, Status::Trialing][self.rng.usize(..4)];
        let has_trial = status == Status::Trialing;
        let (start, end) = (self.time, self.time + if has_trial { 14 * DAY } else { length });
        let index = self.subscriptions.len();
        let claims = match status {
            Status::Incomplete => vec![],
            Status::Trialing => vec![Claim::paid(price, end)],
            // Until it is known to have failed, and then for the grace time.
            _ => vec![Claim::hoped(price, end), Claim::over(price, start + GRACE)],
        };
        self.subscriptions.push(Billed {
            id: format!("sub_{index}"),
            price,
            status,
            reported: status,
            start,
            end,
            length,
            cancels: false,
            open: Vec::new(),
            claims,
        });
        self.report(CREATED, index);
        self.agenda.insert((end, Next::Renew(index)));
        if status == Status::Active && self.rng.u8(..4) == 0 {
            // A bank debit takes days.
            let seconds = self.rng.i64(DAY..10 * DAY);
            return self.plan(seconds, Next::Charge(index));
        }
        self.time += self.rng.i64(0..3);
        if has_trial {
            // A line of another price that costs nothing.
            self.report_paid(index, &[(0, (price, start, end)), (0, (other, start, end + 300 * DAY))]);
        } else {
            self.pay(index, &[(500, (price, start, end))]);
        }
        if status == Status::Incomplete {
            self.subscriptions[index].status = Status::Active;
            self.report(UPDATED, index);
        }
        self.plan_change(index);
    }

    fn renew(&mut self, index: usize, due: i64) {
        let of = &mut self.subscriptions[index];
        // The period was changed, or the subscription is paused or over.
        if of.end != due || matches!(of.status, Status::Paused | Status::Ended) {
            return;
        }
        if of.cancels {
            of.claims = vec![Claim::over(of.price, of.end)];
            return self.report_end(index, "cancellation_requested");
        }
        (of.start, of.end) = (of.end, of.end + of.length);
        let end = of.end;
        if matches!(of.status, Status::Trialing | Status::Active) {
            of.status = Status::Active;
            of.claims.push(Claim::hoped(of.price, end));
            self.plan(HOUR, Next::Charge(index));
        }
        self.report(UPDATED, index);
        self.agenda.insert((end, Next::Renew(index)));
    }

    fn charge(&mut self, index: usize) {
        let of = &mut self.subscriptions[index];
        let line = (500, (of.price, of.start, of.end));
        if self.rng.u8(..10) < 7 {
            return self.pay(index, &[line]);
        }
        of.forget_hope();
        self.decline(index, vec![line]);
    }

    /// Reports that an invoice with these lines is not paid.
    fn decline(&mut self, index: usize, lines: Vec<Line>) {
        let of = &mut self.subscriptions[index];
        (of.status, of.open) = (Status::PastDue, lines);
        self.report(UPDATED, index);
        let seconds = self.rng.i64(DAY..40 * DAY);
        self.plan(seconds, Next::Retry(index));
    }

    fn retry(&mut self, index: usize) {
        let choice = self.rng.u8(..4);
        let of = &mut self.subscriptions[index];
        if !matches!(of.status, Status::PastDue | Status::Unpaid) {
            return;
        }
        match choice {
            0 if of.status == Status::PastDue => {
                of.status = Status::Unpaid;
                self.report(UPDATED, index);
                self.plan(3 * DAY, Next::Retry(index));
            }
            1 => self.report_end(index, "payment_failed"),
            2 if of.has_declined_upgrade() => {
                // The declined upgrade is taken back.
                (of.price, of.status) = (STARTER, Status::Active);
                self.report(UPDATED, index);
                self.plan_change(index);
            }
            _ => {
                let lines = std::mem::take(&mut of.open);
                let (_, (price, _, end)) = lines[lines.len() - 1];
                of.status = Status::Active;
                self.pay(index, &lines);
                // While the payment was repeated, further periods may have begun.
                let of = &mut self.subscriptions[index];
                if of.end != end {
                    of.claims.push(Claim::hoped(price, of.end));
                }
                self.time += 1;
                self.report(UPDATED, index);
                self.plan_change(index);
            }
        }
    }

    fn change(&mut self, index: usize) {
        let of = &mut self.subscriptions[index];
        // No one changes a subscription in the hour before its renewal is charged.
        if self.time < of.start + 2 * HOUR {
            return self.plan(3 * HOUR, Next::Change(index));
        }
        match (of.status, self.rng.u8(..8)) {
            (Status::PastDue | Status::Unpaid | Status::Ended, _) => return,
            (_, 0) => {
                // Cancelled at once, or after a dispute.
                of.claims = vec![Claim::over(of.price, self.time)];
                let reason = if self.rng.bool() { "cancellation_requested" } else { "payment_disputed" };
                if reason == "payment_disputed" {
                    of.claims.clear();
                }
                return self.report_end(index, reason);
            }
            (Status::Paused, _) => self.resume(index),
            (Status::CollectionPaused, _) => {
                of.status = Status::Active;
                of.claims.push(Claim::hoped(of.price, of.end));
                self.report(UPDATED, index);
            }
            (Status::Active | Status::Trialing, 1) => {
                of.cancels = !of.cancels;
                self.report(UPDATED, index);
            }
            (Status::Active | Status::Trialing, 2) if !of.cancels => {
                of.status = Status::Paused;
                of.claims.clear();
                self.report(PAUSED, index);
            }
            (Status::Active, 3) if !of.cancels => {
                of.status = Status::CollectionPaused;
                self.report(UPDATED, index);
            }
            (Status::Active, _) if !of.cancels && of.price == STARTER => self.upgrade(index),
            (Status::Active, 4) if !of.cancels => self.downgrade(index),
            _ => {}
        }
        self.plan_change(index);
    }

    fn resume(&mut self, index: usize) {
        let of = &mut self.subscriptions[index];
        let line = (of.price, self.time, self.time + of.length);
        (_, of.start, of.end) = line;
        of.status = Status::Active;
        of.claims = vec![Claim::hoped(of.price, of.end)];
        self.report(RESUMED, index);
        let (_, _, end) = line;
        self.agenda.insert((end, Next::Renew(index)));
        self.time += 5;
        self.pay(index, &[(500, line)]);
    }

    /// Changes to the higher price, for the rest of the period or for a new one.
    fn upgrade(&mut self, index: usize) {
        let choice = self.rng.u8(..5);
        let of = &mut self.subscriptions[index];
        let credit = (-100, (STARTER, self.time, of.end));
        of.price = PRO;
        let has_new_period = self.rng.u8(..3) == 0;
        if has_new_period {
            (of.start, of.end) = (self.time, self.time + of.length);
        }
        let lines = vec![credit, (500, (PRO, self.time, of.end))];
        let end = of.end;
        if choice > 2 {
            self.decline(index, lines);
        } else {
            of.claims.push(Claim::hoped(PRO, end));
            self.report(UPDATED, index);
            // Otherwise the next invoice has the difference.
            if choice > 0 || has_new_period {
                self.pay(index, &lines);
            }
        }
        self.agenda.insert((end, Next::Renew(index)));
    }

    /// Changes to the lower price for the rest of the period. The rest of the higher one is credited.
    fn downgrade(&mut self, index: usize) {
        let is_invoiced = self.rng.bool();
        let of = &mut self.subscriptions[index];
        of.price = STARTER;
        of.claims.iter_mut().for_each(|claim| claim.price = STARTER);
        let (time, end) = (self.time, of.end);
        self.report(UPDATED, index);
        if is_invoiced {
            self.pay(index, &[(-400, (PRO, time, end)), (100, (STARTER, time, end))]);
        }
    }
}

impl Claim {
    const fn paid(price: &'static str, end: i64) -> Self {
        Self { price, owed_until: end, most_until: end + GRACE }
    }

    /// A period counts before it is paid, until Stripe reports that its payment has failed.
    const fn hoped(price: &'static str, end: i64) -> Self {
        Self { price, owed_until: 0, most_until: end + GRACE }
    }

    const fn over(price: &'static str, at: i64) -> Self {
        Self { price, owed_until: 0, most_until: at }
    }

    fn rank(&self) -> usize {
        rank(self.price.strip_prefix("price_").unwrap())
    }
}

fn rank(decision: &str) -> usize {
    let known = ["deny", "starter", "pro"].iter().position(|known| *known == decision);
    known.unwrap_or_else(|| panic!("{decision}"))
}

/// Checks the authorizer's decisions on the account after this step: now, at the end of the owed time, and
/// after the end of the allowed time.
///
/// # Errors
/// The first wrong decision.
async fn check(shop: &Shop, account: &str, step: &Step) -> Result<(), String> {
    let ends = step.claims.iter().flat_map(|claim| [claim.owed_until, claim.most_until + 1]);
    let times: BTreeSet<_> = ends.chain([step.at]).filter(|time| *time >= step.at).collect();
    let key = shop.new_key(account).await;
    for time in times {
        let decision = super::decide(&shop.cloud, key.expose(), time).await;
        let highest = |is_meant: &dyn Fn(&Claim) -> bool| {
            step.claims.iter().filter(|claim| is_meant(claim)).map(Claim::rank).max().unwrap_or_default()
        };
        let owed = highest(&|claim| time <= claim.owed_until);
        let most = highest(&|claim| time <= claim.most_until);
        if !(owed..=most).contains(&rank(&decision)) {
            return Err(format!("{decision} on day {}, but {:?}", days(time), step.claims));
        }
    }
    Ok(())
}

/// The days since the start of the life.
fn days(time: i64) -> String {
    let seconds = time - day(0);
    format!("{} + {} s", seconds / DAY, seconds % DAY)
}

/// The events as a person reads them.
fn told(steps: &[Step]) -> String {
    let line = |step: &Step| {
        let detail = &step.event.of_event_bridge()["detail"];
        let object = &detail["data"]["object"];
        let list = |name: &str| object[name]["data"].as_array().cloned().unwrap_or_default();
        let time = |value: &Value| days(value.as_i64().unwrap());
        let items = list("items").into_iter().map(|item| {
            let (start, end) = (time(&item["current_period_start"]), time(&item["current_period_end"]));
            format!("{} from {start} to {end}", item["price"]["id"])
        });
        let lines = list("lines").into_iter().map(|line| {
            let (start, end) = (time(&line["period"]["start"]), time(&line["period"]["end"]));
            format!(
                "{} for {} from {start} to {end}",
                line["amount"], line["pricing"]["price_details"]["price"]
            )
        });
        let parts = items.chain(lines).collect::<Vec<_>>().join(", ");
        let fields = ["id", "status", "cancel_at_period_end", "pause_collection", "cancellation_details"];
        let fields = json!(fields.map(|name| &object[name]));
        format!("day {}: {} {fields} {parts}", days(step.at), detail["type"])
    };
    steps.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Delivers the events of a life in order and checks the account after each, and delivers a prefix shuffled
/// to another account.
///
/// # Errors
/// The first wrong decision, with the number of events before it.
async fn live(shop: &Shop, seed: u64) -> Result<(), (usize, String)> {
    let Life { mut rng, steps, .. } = Life::new(seed);
    let wrong = |count: usize, way: &str, reason: String| {
        (count, format!("life {seed}, events {way}: {reason}\n{}", told(&steps[..count])))
    };
    let in_order = format!("{seed}_in_order");
    for (count, step) in (1..).zip(&steps) {
        for _ in 0..=usize::from(rng.u8(..4) == 0) {
            shop.deliver(&step.event.renamed(&in_order)).await;
        }
        let checked = check(shop, &format!("zoe-{in_order}"), step).await;
        checked.map_err(|reason| wrong(count, "in order", reason))?;
    }
    let count = if rng.bool() { steps.len() } else { rng.usize(1..=steps.len()) };
    let shuffled = format!("{seed}_shuffled");
    let mut order: Vec<_> = (0..count).collect();
    order.extend((0..count).filter(|_| rng.u8(..4) == 0).collect::<Vec<_>>());
    rng.shuffle(&mut order);
    for index in &order {
        shop.deliver(&steps[*index].event.renamed(&shuffled)).await;
    }
    let checked = check(shop, &format!("zoe-{shuffled}"), &steps[count - 1]).await;
    checked.map_err(|reason| wrong(count, &format!("in the order {order:?}"), reason))?;
    Ok(())
}

#[tokio::test]
async fn paid_time_is_allowed_and_nothing_else_in_every_life() {
    let given = std::env::var("LIVES_SEED").ok().map(|text| text.parse::<u64>().unwrap());
    let seed = given.unwrap_or_else(|| fastrand::u64(..1_000_000));
    print(&format!("{LIVES} lives, LIVES_SEED={seed}"));
    let shop = Shop::with(one_instance_each(), &[]).await;
    let lives = stream::iter(seed..seed + LIVES).map(|seed| live(&shop, seed)).buffer_unordered(4);
    let wrong: Vec<_> = lives.filter_map(async |lived| lived.err()).collect().await;
    let shortest = wrong.iter().min_by_key(|(count, _)| count);
    assert!(wrong.is_empty(), "{} of {LIVES} lives, for example {}", wrong.len(), shortest.unwrap().1);
}

/// Prints a line, even if the test passes.
#[expect(clippy::explicit_write, reason = "the test harness captures what macros print")]
fn print(text: &str) {
    writeln!(std::io::stderr(), "{text}").unwrap();
}
