//! The decision: may this key ask, at this moment? (`interface.md`, part 5)

use super::account::{Account, SubscriptionStatus, Tier};
use super::key::{KeyId, KeyRecord, KeyState, MalformedKey};
use crate::time::UnixSeconds;

/// What becomes of a request with a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It is answered.
    Allow {
        /// The account that pays.
        account: String,
        /// How often it may ask.
        tier: Tier,
        /// What API Gateway counts the requests under.
        usage_identifier: KeyId,
    },
    /// The key is good, and nobody pays for it: 403.
    Deny(Inactive),
    /// The key is not good: 401.
    Refuse(Refusal),
}

/// Why a key is not good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It cannot be a key.
    #[error("the key is malformed: {0}")]
    Malformed(#[from] MalformedKey),
    /// It has never been issued.
    #[error("the key is unknown")]
    Unknown,
    /// Issuing it has not come to its end.
    #[error("the key was not issued completely")]
    Pending,
    /// It was taken back.
    #[error("the key was revoked at {at}")]
    Revoked {
        /// Since when.
        at: UnixSeconds,
    },
}

/// Why nobody pays for a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Inactive {
    /// There is no such account.
    #[error("the key's account is not there")]
    NoAccount,
    /// An operator has stopped the subscription.
    #[error("the account's subscription is suspended")]
    Suspended,
    /// It was not renewed.
    #[error("the account's subscription was paid until {paid_until}")]
    Lapsed {
        /// The last second that was paid for.
        paid_until: UnixSeconds,
    },
}

/// What becomes of a request at the moment `now` with the well-formed key of which `key` is kept, and for whose account
/// `account` is kept. A key that was revoked is refused whatever `now` is: clocks differ, and revoking is for good.
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

    /// Every state of a key with every state of an account at every side of the moments that count: the last column is
    /// written out, so that a change of the rule is a change of this table.
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
