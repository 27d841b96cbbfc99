//! Who accepts gzip gets less to download, and everybody the same content.

use common::routes::OPENAPI;

use super::Inspection;
use super::answer::Answer;
use super::question::Question;
use super::report::{Failure, Report};

/// A large answer that stays the same for an hour.
const LARGE: &str = "/v1/items";
/// How often two answers are asked for until they were fetched at the same time.
const ATTEMPTS: usize = 3;

pub(super) async fn check(inspection: &Inspection<'_>, report: &mut Report) {
    for question in [Question::anonymous(OPENAPI.path), Question::paid(LARGE, &inspection.keys.good)] {
        let name = format!("compression GET {}", question.path);
        report.check(name, compare(inspection, &question).await);
    }
}

async fn compare(inspection: &Inspection<'_>, question: &Question) -> Result<(), Failure> {
    let ask = async |encoding| inspection.target.ask(&question.clone().encoding(Some(encoding))).await;
    for _ in 0..ATTEMPTS {
        let packed = ask("gzip").await?;
        let plain = ask("identity").await?;
        // What is stored is one or the other; whoever comes next must not get it in a form that they cannot read.
        let packed_again = ask("gzip").await?;
        expect_encoding(&packed, Some("gzip"))?;
        expect_encoding(&plain, None)?;
        expect_encoding(&packed_again, Some("gzip"))?;
        if packed.sent_bytes >= plain.sent_bytes {
            let came = format!("{} bytes, and {} without", packed.sent_bytes, plain.sent_bytes);
            return Err(Failure::new("fewer bytes with gzip", came));
        }
        let time = |answer: &Answer| answer.header("last-modified").map(str::to_owned);
        let is_cached = |answer: &Answer| answer.cached();
        if time(&packed) != time(&plain) || is_cached(&packed) != is_cached(&plain) {
            continue;
        }
        return if packed.text == plain.text {
            Ok(())
        } else {
            Err(Failure::new("the same content with gzip and without", packed.shown()))
        };
    }
    Err(Failure::new("the same answer twice", "another one each time"))
}

fn expect_encoding(answer: &Answer, expected: Option<&str>) -> Result<(), Failure> {
    if answer.status != 200 {
        return Err(Failure::new("the status 200", answer.shown()));
    }
    let came = answer.header("content-encoding").filter(|encoding| *encoding != "identity");
    if came == expected {
        return Ok(());
    }
    let shown = |encoding: Option<&str>| {
        encoding.map_or_else(|| "no encoding".to_owned(), |name| format!("the encoding {name}"))
    };
    Err(Failure::new(shown(expected), shown(came)))
}
