//! The measurements for people.

use super::choice::{self, Measurement};
use super::{SIZES, template};

/// The sizes of one function, as a table with the choice.
///
/// # Errors
/// When the template cannot be read.
pub(super) fn report(sizes: &[Measurement]) -> Result<String, String> {
    let header = [
        "MB",
        "first p50",
        "p99",
        "fetched p50",
        "p99",
        "memory p50",
        "p99",
        "handshake",
        "peak MB",
        "$/million",
    ];
    let cells = |size: &Measurement| {
        let mut cells = vec![size.memory_mb.to_string()];
        for latency in [Some(size.first), size.fetched, size.remembered] {
            cells
                .extend([show(latency.map(|latency| latency.p50)), show(latency.map(|latency| latency.p99))]);
        }
        cells.extend([
            show(size.handshake),
            format!("{:.0}", size.peak_mb),
            format!("{:.2}", size.dollars()),
        ]);
        cells
    };
    let rows: Vec<_> = sizes.iter().map(cells).collect();
    let function = sizes.first().map_or("", |size| size.function.as_str());
    let template = template::sizes()?.get(function).copied().unwrap_or_default();
    let chosen = choice::chosen(sizes).map_or(0, |size| size.memory_mb);
    let frontier: Vec<_> = choice::frontier(sizes).iter().map(ToString::to_string).collect();
    Ok(format!(
        "\n{function}: the rule chooses {chosen} MB, the template has {template} MB, the frontier is {} MB\n\n{}",
        frontier.join(", "),
        markdown::table(&header, &rows)
    ))
}

/// The table of the operators' page.
///
/// # Errors
/// A sentence, when a function fits no size.
pub(super) fn summary(measurements: &[Measurement]) -> Result<String, String> {
    let sizes: Vec<_> = SIZES.iter().map(ToString::to_string).collect();
    let mut header = vec!["p99 in ms at MB"];
    header.extend(sizes.iter().map(String::as_str));
    header.extend(["peak MB", "chosen MB", "$/million"]);
    let mut rows = Vec::new();
    for of_function in measurements.chunk_by(|a, b| a.function == b.function) {
        let function = of_function.first().map_or("", |size| size.function.as_str());
        let chosen = choice::chosen(of_function).ok_or_else(|| format!("{function} fits no size"))?;
        let mut row = vec![format!("`{function}`")];
        let p99 = |size: &Measurement| format!("{:.1}", size.p99());
        row.extend(
            of_function.iter().map(|size| if size.is_possible() { p99(size) } else { "-".to_owned() }),
        );
        let peak = of_function.iter().map(|size| size.peak_mb).fold(0.0, f64::max);
        row.extend([format!("{peak:.0}"), chosen.memory_mb.to_string(), format!("{:.2}", chosen.dollars())]);
        rows.push(row);
    }
    Ok(markdown::table(&header, &rows))
}

fn show(milliseconds: Option<f64>) -> String {
    milliseconds.map_or_else(String::new, |milliseconds| format!("{milliseconds:.1}"))
}
