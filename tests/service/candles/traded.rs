//! What was traded in a day follows from the moving weeks, with the error that the reference names.

use std::collections::BTreeMap;

use crate::history::DAY;

/// A midnight in UTC, in Unix milliseconds.
const MIDNIGHT_MS: i64 = 1_795_219_200_000;

/// Returns the midnight of a day, in Unix milliseconds.
const fn midnight(day: usize) -> i64 {
    MIDNIGHT_MS + day.cast_signed() as i64 * DAY * 1_000
}

/// Returns both moving weeks of all products at the midnight of a day.
fn moving_weeks(day: usize) -> BTreeMap<&'static str, [f64; 2]> {
    #[expect(clippy::cast_precision_loss, reason = "fewer than 53 bits")]
    let weeks = |quote: simulator::bazaar::Quote| {
        (quote.id, [quote.sell_moving_week, quote.buy_moving_week].map(|week| week as f64))
    };
    simulator::bazaar::quotes(1, midnight(day)).map(weeks).collect()
}

/// Returns what is traded in a day by the formula of the reference, from the moving weeks at both ends and
/// what was traded in the same day a week before.
fn traded(start: f64, end: f64, week_before: Option<f64>) -> f64 {
    match week_before {
        Some(week_before) => end - start + week_before,
        None => (end - start) / 2.0 + f64::midpoint(start, end) / 7.0,
    }
}

#[test]
fn traded_items_by_the_formula_have_the_error_in_the_reference() {
    let mut days: Vec<BTreeMap<&str, [f64; 2]>> = Vec::new();
    let mut errors = Vec::new();
    for day in 0..14 {
        let (starts, ends) = (moving_weeks(day), moving_weeks(day + 1));
        let real: BTreeMap<_, _> = simulator::bazaar::traded(1, midnight(day), midnight(day + 1)).collect();
        let week_before = day.checked_sub(7).map(|day| days[day].clone());
        let mut of_day = BTreeMap::new();
        let (mut error, mut total) = (0.0, 0.0);
        for (id, end) in ends {
            let (Some(start), Some(real)) = (starts.get(id), real.get(id)) else { continue };
            let before = week_before.as_ref().map(|week_before| week_before.get(id));
            // The week before is unknown.
            if before == Some(None) {
                continue;
            }
            let before = before.flatten();
            let sides = [0, 1].map(|side| traded(start[side], end[side], before.map(|before| before[side])));
            for (traded, real) in sides.iter().zip(real) {
                error += (traded - real).abs();
                total += real;
            }
            of_day.insert(id, sides);
        }
        days.push(of_day);
        errors.push(100.0 * error / total);
    }
    let largest = errors[7..].iter().copied().fold(0.0, f64::max);
    let sentence =
        format!("In a simulated fortnight, the error of a day is at most {:.0} % of", largest.ceil());
    let reference =
        include_str!("../../../functions/README.md").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(reference.contains(&sentence), "the reference must say: {sentence}");
    // A whole week needs no estimate.
    let week: f64 = days[..7].iter().map(|day| day["INK_SACK:3"][0]).sum();
    let real = moving_weeks(7)["INK_SACK:3"][0];
    assert!((week / real - 1.0).abs() < 0.2, "{week} for {real}");
}
