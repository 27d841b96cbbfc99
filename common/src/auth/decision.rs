//! The decision whether a request with a key is allowed (`functions/README.md`, Keys).

use super::account::{Account, SubscriptionStatus, Tier};
use super::key::MalformedKey;
use super::record::{KeyId, KeyRecord, KeyState};
use crate::time::UnixSeconds;

/// The decision about a request with a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The request is allowed.
    Allow {
        /// The account of the key.
        account: String,
        /// The tier of the account.
        tier: Tier,
        /// The identifier under which API Gateway counts requests.
        usage_identifier: KeyId,
    },
    /// The key is good, but its account has no active subscription: 403.
    Deny(Inactive),
    /// The key is not good: 401.
    Refuse(Refusal),
}

/// Why a key is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is malformed.
    #[error("the key is malformed: {0}")]
    Malformed(#[from] MalformedKey),
    /// It was never issued.
    #[error("the key is unknown")]
    Unknown,
    /// It is not completely issued.
    #[error("the key was not issued completely")]
    Pending,
    /// It was revoked.
    #[error("the key was revoked at {at}")]
    Revoked {
        /// When it was revoked.
        at: UnixSeconds,
    },
}

/// Why an account has no active subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Inactive {
    /// The account does not exist.
    #[error("the key's account does not exist")]
    NoAccount,
    /// An operator has suspended the subscription.
    #[error("the account's subscription is suspended")]
    Suspended,
    /// The subscription was not renewed.
    #[error("the account's subscription was paid until {paid_until}")]
    Lapsed {
        /// The last second that was paid for.
        paid_until: UnixSeconds,
    },
}

/// Decides about a request at the time `now`. `key` and `account` are the records of the key and of its account, if they exist.
/// A revoked key is refused whatever `now` is: clocks differ, and a revocation is final.
#[must_use]
pub fn decide(key: Option<&KeyRecord>, account: Option<&Account>, now: UnixSeconds) -> Decision {
    let Some(key) = key else { return Decision::Refuse(Refusal::Unknown) };
    match key.state {
        KeyState::Issued => {}
        KeyState::Pending => return Decision::Refuse(Refusal::Pending),
        KeyState::Revoked { at } => return Decision::Refuse(Refusal::Revoked { at }),
    }
    let Some(account) = account.filter(|account| account.name == key.account) else {
        return Decision::Deny(Inactive::NoAccount);
    };
    let subscription = account.subscription;
    match subscription.status {
        SubscriptionStatus::Suspended => Decision::Deny(Inactive::Suspended),
        SubscriptionStatus::Active if subscription.paid_until < now => {
            Decision::Deny(Inactive::Lapsed { paid_until: subscription.paid_until })
        }
        SubscriptionStatus::Active => Decision::Allow {
            account: account.name.to_string(),
            tier: subscription.tier,
            usage_identifier: key.id(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::{AccountName, ApiKey, Subscription};

    const PAID_UNTIL: UnixSeconds = UnixSeconds::new(1_800_000_000);
    const REVOKED_AT: UnixSeconds = UnixSeconds::new(1_790_000_000);

    fn key(state: KeyState) -> KeyRecord {
        let key = ApiKey::of_random_part("0123456789ABCDEFGHIJabcdefghij01").unwrap();
        KeyRecord {
            digest: key.digest(),
            account: "bots".parse().unwrap(),
            label: "ci".parse().unwrap(),
            created_at: UnixSeconds::new(1_700_000_000),
            last_four: key.last_four().to_owned(),
            state,
        }
    }

    fn account(name: &str, tier: Tier, status: SubscriptionStatus) -> Account {
        let name: AccountName = name.parse().unwrap();
        Account { name, subscription: Subscription { tier, status, paid_until: PAID_UNTIL } }
    }

    /// Every state of a key with every state of an account, before and after each time that matters. All results are written
    /// out, so that a change of the rules is a change of this table.
    #[test]
    fn the_whole_table() {
        use SubscriptionStatus::{Active, Suspended};
        use Tier::{Pro, Starter};
        let accounts = [
            ("no account", None),
            ("another's account", Some(account("others", Pro, Active))),
            ("starter", Some(account("bots", Starter, Active))),
            ("pro", Some(account("bots", Pro, Active))),
            ("suspended", Some(account("bots", Pro, Suspended))),
        ];
        let keys = [
            ("unknown", None),
            ("pending", Some(key(KeyState::Pending))),
            ("issued", Some(key(KeyState::Issued))),
            ("revoked", Some(key(KeyState::Revoked { at: REVOKED_AT }))),
        ];
        let times = [
            ("before the key was revoked", REVOKED_AT.get() - 1),
            ("when the key was revoked", REVOKED_AT.get()),
            ("the last second that is paid for", PAID_UNTIL.get()),
            ("one second later", PAID_UNTIL.get() + 1),
        ];
        #[rustfmt::skip]
        let expected = [
            // unknown key: five accounts, each at four times
            "unknown unknown unknown unknown", "unknown unknown unknown unknown", "unknown unknown unknown unknown",
            "unknown unknown unknown unknown", "unknown unknown unknown unknown",
            // pending
            "pending pending pending pending", "pending pending pending pending", "pending pending pending pending",
            "pending pending pending pending", "pending pending pending pending",
            // issued
            "none none none none", "none none none none", "starter starter starter lapsed",
            "pro pro pro lapsed", "suspended suspended suspended suspended",
            // revoked
            "revoked revoked revoked revoked", "revoked revoked revoked revoked", "revoked revoked revoked revoked",
            "revoked revoked revoked revoked", "revoked revoked revoked revoked",
        ];
        let mut expected = expected.into_iter();
        for (key_state, key) in &keys {
            for (account_state, account) in &accounts {
                let mut row = expected.next().unwrap().split(' ');
                for (moment, now) in times {
                    let decision = decide(key.as_ref(), account.as_ref(), UnixSeconds::new(now));
                    let word = match decision {
                        Decision::Refuse(Refusal::Malformed(_)) => "malformed",
                        Decision::Refuse(Refusal::Unknown) => "unknown",
                        Decision::Refuse(Refusal::Pending) => "pending",
                        Decision::Refuse(Refusal::Revoked { at: REVOKED_AT }) => "revoked",
                        Decision::Deny(Inactive::NoAccount) => "none",
                        Decision::Deny(Inactive::Suspended) => "suspended",
                        Decision::Deny(Inactive::Lapsed { paid_until: PAID_UNTIL }) => "lapsed",
                        Decision::Allow { ref account, tier, ref usage_identifier } => {
                            assert_eq!(account, "bots");
                            assert_eq!(Some(usage_identifier), key.as_ref().map(KeyRecord::id).as_ref());
                            tier.name()
                        }
                        ref other => panic!("{other:?}"),
                    };
                    assert_eq!(Some(word), row.next(), "{key_state} key, {account_state}, {moment}");
                }
            }
        }
        assert_eq!(expected.next(), None);
    }
}
