//! Who gets in and who does not, also where an answer is stored already.

use common::auth::ApiKey;

use super::question::{KEY_HEADER, Question};
use super::report::{Failure, Report};
use super::{Inspection, envelope};

/// A route whose answer has been asked for before, so that it is stored where answers are stored.
pub(super) const STORED: &str = "/v1/mayor";

pub(super) async fn check(inspection: &Inspection<'_>, report: &mut Report) {
    for operation in inspection.description.operations().filter(|operation| operation.wants_key) {
        for example in operation.examples(200).into_iter().take(1) {
            let request = inspection.with_player(&operation, example);
            let result = refused(inspection, &Question::anonymous(&request), 401).await;
            report.check(format!("no key 401 GET {}", operation.path), result);
        }
    }
    let good = inspection.keys.good.expose();
    let stored = || Question::anonymous(STORED);
    let unknown = unknown_key();
    let wrong = [
        ("empty key", Some(stored().with(KEY_HEADER, ""))),
        ("malformed key", Some(stored().with(KEY_HEADER, "gd_no-key"))),
        ("mistyped key", unknown.as_ref().map(|key| stored().with(KEY_HEADER, &mistyped(key)))),
        ("unknown key", unknown.as_ref().map(|key| stored().with(KEY_HEADER, key.expose()))),
        ("key in the query", Some(Question::anonymous(format!("{STORED}?X-API-Key={good}")))),
        ("key in Authorization", Some(stored().with("Authorization", &format!("Bearer {good}")))),
        ("two keys", Some(stored().with(KEY_HEADER, good).with(KEY_HEADER, good))),
    ];
    for (name, question) in wrong {
        let name = format!("{name} 401");
        match question {
            Some(question) => report.check(name, refused(inspection, &question, 401).await),
            None => report.skip(name, "the system has no random numbers"),
        }
    }
    for (name, key, status, option) in [
        ("lapsed key 403", &inspection.keys.lapsed, 403, "--lapsed-key"),
        ("revoked key 401", &inspection.keys.revoked, 401, "--revoked-key"),
    ] {
        match key {
            Some(key) => {
                let question = Question::unpaid(STORED, key.expose());
                report.check(name, refused(inspection, &question, status).await);
            }
            None => report.skip(name, format!("no {option} was given")),
        }
    }
    report.check("stored answer only with a key", stored_answer(inspection).await);
}

/// That the answer is the error with the status, and nothing else.
async fn refused(inspection: &Inspection<'_>, question: &Question, status: u16) -> Result<(), Failure> {
    let answer = inspection.target.ask(question).await?;
    envelope::error(&answer, status).map(drop)
}

/// Asks with a good key, and at once with every other.
async fn stored_answer(inspection: &Inspection<'_>) -> Result<(), Failure> {
    for _ in 0..2 {
        envelope::success(&inspection.paid(STORED).await?)?;
    }
    for (question, status) in bad_callers(inspection) {
        refused(inspection, &question, status).await?;
    }
    // And still for whom it is.
    envelope::success(&inspection.paid(STORED).await?).map(drop)
}

/// Requests for the stored answer that are to be refused, each with the status.
pub(super) fn bad_callers(inspection: &Inspection<'_>) -> Vec<(Question, u16)> {
    let Inspection { keys, .. } = inspection;
    let mut callers = vec![(Question::anonymous(STORED), 401)];
    callers.extend(unknown_key().map(|key| (Question::unpaid(STORED, key.expose()), 401)));
    callers.extend(keys.lapsed.as_ref().map(|key| (Question::unpaid(STORED, key.expose()), 403)));
    callers.extend(keys.revoked.as_ref().map(|key| (Question::unpaid(STORED, key.expose()), 401)));
    callers
}

/// A key that is built well and was never issued.
fn unknown_key() -> Option<ApiKey> {
    ApiKey::generate(getrandom::fill).ok()
}

/// The key with another last character.
fn mistyped(key: &ApiKey) -> String {
    let mut text = key.expose().to_owned();
    let last = text.pop();
    text.push(if last == Some('0') { '1' } else { '0' });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_key_is_no_key() {
        let key = unknown_key().unwrap();
        assert_eq!(mistyped(&key).len(), key.expose().len());
        assert!(mistyped(&key).parse::<ApiKey>().is_err());
    }
}
