//! No two questions share an answer, however their parameters are put together. How API Gateway's cache builds its key from
//! a parameter that is given twice is documented nowhere, so it is found out here. Unknown items are asked for, because the
//! answer names them.

use super::errors::names;
use super::keys::STORED;
use super::report::{Failure, Report};
use super::{Inspection, envelope};

/// Checks; and says whether a parameter given twice spoils the answers of others, which shows that errors are stored.
pub(super) async fn check(inspection: &Inspection<'_>, report: &mut Report) -> bool {
    for (name, path) in [
        ("a slash at the end makes no difference", format!("{STORED}/")),
        ("an unknown parameter makes no difference", format!("{STORED}?unknown=1")),
    ] {
        let answer = inspection.paid(&path).await;
        report.check(name, answer.and_then(|answer| envelope::success(&answer).map(drop)));
    }
    report.check("parameters are not mixed up", cut(inspection).await);

    let [first, last] = [(); 2].map(|()| inspection.unknown_item());
    let which = item(inspection, &[&first, &last]).await;
    let counted = which.as_ref().ok().cloned();
    report.check("of a parameter given twice the last counts", which.and_then(|said| expect(&last, &said)));
    let mut spoilt = Vec::new();
    let mut lasting = |name: &str, result: Result<(), Failure>| {
        if result.is_err() {
            spoilt.push(name.to_owned());
        }
        report.check(name, result);
    };
    lasting("a parameter given twice leaves the first value alone", alone(inspection, &first).await);
    lasting("a parameter given twice leaves the last value alone", alone(inspection, &last).await);
    lasting("a parameter given twice is not mixed up with one given once", both_ways(inspection).await);

    let value = match &counted {
        Some(said) if *said == last => "last",
        Some(said) if *said == first => "first",
        _ => "unknown",
    };
    let text = if spoilt.is_empty() {
        format!(
            "of ?id=A&id=B the {value} value counts, and neither A nor B alone gets the other's answer afterwards"
        )
    } else {
        format!(
            "of ?id=A&id=B the {value} value counts, and an answer goes to another question: see the failed checks"
        )
    };
    let is_poisoned = !spoilt.is_empty();
    let value = if is_poisoned { format!("{value}_and_poisons") } else { value.to_owned() };
    report.observe("repeated_parameter", value, text);
    is_poisoned
}

/// Questions that differ in where one parameter ends and the next begins.
async fn cut(inspection: &Inspection<'_>) -> Result<(), Failure> {
    let id = inspection.unknown_item();
    let whole = format!("/v1/bazaar?mode=item&id={id}");
    names(&inspection.paid(&whole).await?, 404, &[&id])?;
    let glued = inspection.paid(&format!("/v1/bazaar?mode=item%26id={id}")).await?;
    names(&glued, 400, &["mode"])?;
    let longer = inspection.paid(&format!("{whole}%26limit%3D1")).await?;
    let message = envelope::error(&longer, 404)?;
    if message.contains(&format!("'{id}'")) {
        return Err(Failure::new(format!("a message about the id {id}&limit=1"), message));
    }
    names(&inspection.paid(&whole).await?, 404, &[&format!("'{id}'")])
}

/// Asks for one, and then for it and another in both orders.
async fn both_ways(inspection: &Inspection<'_>) -> Result<(), Failure> {
    let [one, other] = [(); 2].map(|()| inspection.unknown_item());
    alone(inspection, &one).await?;
    expect(&other, &item(inspection, &[&one, &other]).await?)?;
    expect(&one, &item(inspection, &[&other, &one]).await?)?;
    alone(inspection, &one).await
}

/// That the answer for this item alone names it.
async fn alone(inspection: &Inspection<'_>, id: &str) -> Result<(), Failure> {
    expect(id, &item(inspection, &[id]).await?)
}

fn expect(id: &str, said: &str) -> Result<(), Failure> {
    if said == id {
        Ok(())
    } else {
        Err(Failure::new(format!("an answer about {id}"), format!("one about {said}")))
    }
}

/// Which of the items the answer is about, if each is given as `id`.
async fn item(inspection: &Inspection<'_>, ids: &[&str]) -> Result<String, Failure> {
    let query: Vec<String> = ids.iter().map(|id| format!("id={id}")).collect();
    let answer = inspection.paid(&format!("/v1/bazaar?mode=item&{}", query.join("&"))).await?;
    let message = envelope::error(&answer, 404)?;
    let quoted = message.split('\'').nth(1).map(str::to_owned);
    quoted.ok_or_else(|| Failure::new("a message that names the item", message))
}
