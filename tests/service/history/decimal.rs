//! Exact decimal numbers, so that tests of rounding do not depend on floating point.

/// The number `units` times ten to the power of `exponent`.
#[derive(Debug, Clone, Copy)]
struct Decimal {
    units: i128,
    exponent: i32,
}

impl Decimal {
    /// The number that `text` spells, as JSON does.
    #[track_caller]
    fn of(text: &str) -> Self {
        let (digits, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let units: i128 =
            format!("{whole}{fraction}").parse().unwrap_or_else(|_| panic!("{text} is not a number"));
        let places = i32::try_from(fraction.len()).unwrap();
        Self { units, exponent: power.parse::<i32>().unwrap() - places }
    }

    /// The number in units of ten to the power of `exponent`, if that is exact.
    fn units_of(self, exponent: i32) -> Option<i128> {
        let shift = u32::try_from(self.exponent - exponent).ok()?;
        self.units.checked_mul(10_i128.checked_pow(shift)?)
    }
}

/// Whether `rounded` is a whole number of hundredths and no other is nearer to `exact`. Both are spelled as in JSON.
#[track_caller]
pub(super) fn is_nearest_hundredth(rounded: &str, exact: &str) -> bool {
    let (rounded, exact) = (Decimal::of(rounded), Decimal::of(exact));
    let Some(hundredths) = rounded.units_of(-2) else { return false };
    let finest = exact.exponent.min(-3);
    let hundredths = Decimal { units: hundredths, exponent: -2 };
    let (Some(rounded), Some(exact)) = (hundredths.units_of(finest), exact.units_of(finest)) else {
        panic!("{rounded:?} and {exact:?} have too many digits");
    };
    let half = Decimal { units: 5, exponent: -3 }.units_of(finest).unwrap();
    (rounded - exact).abs() <= half
}

#[test]
fn only_the_nearest_hundredth_counts() {
    for (exact, nearest, others) in [
        ("2.887645678129047E-11", "0.0", ["0.01", "0.001"]),
        ("0.0049999999999999999", "0.0", ["0.01", "0.005"]),
        ("0.0050000000000000001", "0.01", ["0.0", "0.02"]),
        ("3.1064895104895105", "3.11", ["3.1", "3.12"]),
        ("6.0E7", "60000000.0", ["60000000.01", "59999999.99"]),
        ("500000000.01", "500000000.01", ["500000000.0", "500000000.02"]),
    ] {
        assert!(is_nearest_hundredth(nearest, exact), "{nearest} for {exact}");
        for other in others {
            assert!(!is_nearest_hundredth(other, exact), "{other} for {exact}");
        }
    }
    // A half may be rounded up or down.
    assert!(is_nearest_hundredth("0.12", "0.125") && is_nearest_hundredth("0.13", "0.125"));
}
