//! The rows of accounts.

use std::collections::BTreeMap;
use std::str::FromStr;

use aws_sdk_dynamodb::types::AttributeValue;
use common::auth::{
    Account, AccountName, AccountStatus, GatewayKey, KeyId, Label, PaidTier, Subscription, SubscriptionId,
    Tier,
};
use common::time::UnixSeconds;

use crate::item::{Attributes, Corrupt, PARTITION_KEY, integer, number, string, text};

pub(super) const PREFIX: &str = "account#";

const STATUS: &str = "status";
/// What a person has set, if anything.
const TIER: &str = "tier";
const PAID_UNTIL: &str = "paid_until";
/// The subscriptions by id, as JSON. Absent without subscriptions.
const SUBSCRIPTIONS: &str = "subscriptions";
const VERSION: &str = "version";
/// The valid keys: a map from KEY-ID to label and expiry.
const KEYS: &str = "keys";
const LABEL: &str = "label";
const EXPIRES_AT: &str = "expires_at";
/// The keys in API Gateway: a map from tier to id, plan and time.
const GATEWAY_KEYS: &str = "gateway_keys";
const ID: &str = "id";
const PLAN: &str = "plan";
const USABLE_FROM: &str = "usable_from";
/// Only for a key that is being deleted.
const IS_BEING_DELETED: &str = "is_being_deleted";
const ISSUED_DAY: &str = "issued_day";
const ISSUED_KEYS: &str = "issued_keys";

/// An account with the valid keys that it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountRecord {
    pub account: Account,
    /// The keys that are issued and not revoked. Expired keys stay until the next change.
    pub keys: BTreeMap<KeyId, ValidKey>,
    pub issued: Issued,
    /// Counts the changes.
    pub(super) version: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidKey {
    pub label: Label,
    /// When the key expires because another key replaces it.
    pub expires_at: Option<UnixSeconds>,
}

/// How many keys were issued to an account on a day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Issued {
    /// The day in UTC, as days since 1970.
    pub day: i64,
    pub keys: u32,
}

impl AccountRecord {
    /// A new account without entries and keys.
    #[must_use]
    pub fn new(name: AccountName) -> Self {
        let account = Account::new(name);
        Self { account, keys: BTreeMap::new(), issued: Issued::default(), version: 0 }
    }

    /// Removes the keys that have expired at the time `now`.
    pub fn forget_expired_keys(&mut self, now: UnixSeconds) {
        self.keys.retain(|_, key| key.expires_at.is_none_or(|at| at > now));
    }

    /// Returns the number of valid keys without an expiry.
    #[must_use]
    pub fn lasting_keys(&self) -> usize {
        self.keys.values().filter(|key| key.expires_at.is_none()).count()
    }

    /// Returns the valid key with this label that has no expiry. An account has at most one.
    #[must_use]
    pub fn key_with_label(&self, label: &Label) -> Option<&KeyId> {
        let has_label = |key: &ValidKey| key.label == *label && key.expires_at.is_none();
        self.keys.iter().find(|(_, key)| has_label(key)).map(|(id, _)| id)
    }
}

pub(super) fn partition(name: &AccountName) -> String {
    format!("{PREFIX}{name}")
}

/// # Errors
/// If a time of a subscription is not in the years of RFC 3339.
pub(super) fn row(record: &AccountRecord) -> Result<Attributes, serde_json::Error> {
    let Account { name, status, set_by_person, subscriptions, gateway_keys } = &record.account;
    let gateway_keys = gateway_keys.iter().map(|(tier, key)| {
        let mark = key.is_being_deleted.then_some((IS_BEING_DELETED, AttributeValue::Bool(true)));
        let key =
            [(ID, string(&key.id)), (PLAN, string(&key.plan)), (USABLE_FROM, number(key.usable_from.get()))];
        (tier.name(), map(key.into_iter().chain(mark)))
    });
    let keys = record.keys.iter().map(|(id, key)| {
        let expiry = key.expires_at.map(|at| (EXPIRES_AT, number(at.get())));
        (id.as_str(), map([(LABEL, string(key.label.as_str()))].into_iter().chain(expiry)))
    });
    let set_by_person = set_by_person.iter().flat_map(|PaidTier { tier, paid_until }| {
        [(TIER, string(tier.name())), (PAID_UNTIL, number(paid_until.get()))]
    });
    let subscriptions = match subscriptions {
        none if none.is_empty() => None,
        some => Some((SUBSCRIPTIONS, string(serde_json::to_string(some)?))),
    };
    let attributes = [
        (PARTITION_KEY, string(partition(name))),
        (STATUS, string(status.name())),
        (KEYS, map(keys)),
        (GATEWAY_KEYS, map(gateway_keys)),
        (ISSUED_DAY, number(record.issued.day)),
        (ISSUED_KEYS, number(record.issued.keys)),
        (VERSION, number(record.version)),
    ];
    let attributes = attributes.into_iter().chain(set_by_person).chain(subscriptions);
    Ok(attributes.map(|(name, value)| (name.to_owned(), value)).collect())
}

fn map<'a>(entries: impl IntoIterator<Item = (&'a str, AttributeValue)>) -> AttributeValue {
    AttributeValue::M(entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

pub(super) fn read(row: &Attributes, name: &AccountName) -> Result<AccountRecord, Corrupt> {
    let status = AccountStatus::ALL.into_iter().find(|status| is(row, STATUS, status.name()));
    Ok(AccountRecord {
        account: Account {
            name: name.clone(),
            status: status.ok_or(Corrupt::new(STATUS, "the status of an account"))?,
            set_by_person: set_by_person(row)?,
            subscriptions: subscriptions(row)?,
            gateway_keys: entries(
                row,
                GATEWAY_KEYS,
                |tier| Tier::ALL.into_iter().find(|known| known.name() == tier),
                |key| {
                    Ok(GatewayKey {
                        id: text(key, ID)?,
                        plan: text(key, PLAN)?,
                        usable_from: time(key, USABLE_FROM)?,
                        is_being_deleted: key.contains_key(IS_BEING_DELETED),
                    })
                },
            )?,
        },
        keys: entries(
            row,
            KEYS,
            |id| id.parse().ok(),
            |key| {
                let expires_at = key.get(EXPIRES_AT).map(|_| time(key, EXPIRES_AT)).transpose()?;
                let label =
                    Label::from_str(&text(key, LABEL)?).map_err(|_| Corrupt::new(LABEL, "a label"))?;
                Ok(ValidKey { label, expires_at })
            },
        )?,
        issued: Issued { day: integer(row, ISSUED_DAY)?, keys: natural(row, ISSUED_KEYS)? },
        version: natural(row, VERSION)?,
    })
}

fn set_by_person(row: &Attributes) -> Result<Option<PaidTier>, Corrupt> {
    if !row.contains_key(TIER) && !row.contains_key(PAID_UNTIL) {
        return Ok(None);
    }
    let tier = Tier::ALL.into_iter().find(|tier| is(row, TIER, tier.name()));
    let tier = tier.ok_or(Corrupt::new(TIER, "a tier"))?;
    Ok(Some(PaidTier { tier, paid_until: time(row, PAID_UNTIL)? }))
}

fn subscriptions(row: &Attributes) -> Result<BTreeMap<SubscriptionId, Subscription>, Corrupt> {
    if !row.contains_key(SUBSCRIPTIONS) {
        return Ok(BTreeMap::new());
    }
    let json = text(row, SUBSCRIPTIONS)?;
    serde_json::from_str(&json).map_err(|_| Corrupt::new(SUBSCRIPTIONS, "subscriptions as JSON"))
}

fn entries<K: Ord, V>(
    row: &Attributes,
    attribute: &'static str,
    name: impl Fn(&str) -> Option<K>,
    value: impl Fn(&Attributes) -> Result<V, Corrupt>,
) -> Result<BTreeMap<K, V>, Corrupt> {
    let corrupt = || Corrupt::new(attribute, "a map");
    let map = row.get(attribute).and_then(|map| map.as_m().ok()).ok_or_else(corrupt)?;
    let entry = |(text, entry): (&String, &AttributeValue)| {
        let entry = entry.as_m().map_err(|_| corrupt())?;
        Ok((name(text).ok_or_else(corrupt)?, value(entry)?))
    };
    map.iter().map(entry).collect()
}

fn time(row: &Attributes, attribute: &'static str) -> Result<UnixSeconds, Corrupt> {
    integer(row, attribute).map(UnixSeconds::new)
}

fn natural<N: TryFrom<i64>>(row: &Attributes, attribute: &'static str) -> Result<N, Corrupt> {
    N::try_from(integer(row, attribute)?).map_err(|_| Corrupt::new(attribute, "a natural number"))
}

fn is(row: &Attributes, attribute: &'static str, word: &str) -> bool {
    text(row, attribute).is_ok_and(|text| text == word)
}
