//! Charts as SVG. The SVG has presentation attributes and classes only, because pages allow no inline style.

use std::fmt::Write;

use crate::escape;

/// Height of the drawing area, in units of the picture.
const HEIGHT: u64 = 100;
/// Width of a day: two bars and a gap.
const STEP: u64 = 12;

/// Returns bars of two numbers per day. `label` describes the picture for screen readers; the numbers are in a table
/// beside it.
pub(crate) fn bars(days: &[(u64, u64)], label: &str) -> String {
    let most = days.iter().map(|(one, two)| *one.max(two)).max().unwrap_or(0).max(1);
    let width = STEP * u64::try_from(days.len()).unwrap_or(1).max(1);
    let mut svg = format!(
        "<svg class=\"chart\" viewBox=\"0 0 {width} {HEIGHT}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}\">",
        escape::text(label)
    );
    for (x, (one, two)) in (0..).step_by(12).zip(days) {
        for (class, x, value) in [("one", x + 1, one), ("two", x + 6, two)] {
            // A number above zero is at least a line.
            let height = (value * HEIGHT).div_ceil(most);
            let y = HEIGHT - height;
            // Writing to a string cannot fail.
            let _ =
                write!(svg, "<rect x=\"{x}\" y=\"{y}\" width=\"4\" height=\"{height}\" class=\"{class}\"/>");
        }
    }
    let _ = write!(svg, "<line x1=\"0\" y1=\"{HEIGHT}\" x2=\"{width}\" y2=\"{HEIGHT}\"/></svg>");
    svg
}

#[cfg(test)]
mod tests {
    use super::bars;

    #[test]
    fn the_greatest_number_fills_the_height() {
        let svg = bars(&[(50, 0), (1, 25)], "A <label>");
        assert!(svg.contains("x=\"1\" y=\"0\" width=\"4\" height=\"100\""), "{svg}");
        assert!(svg.contains("x=\"18\" y=\"50\" width=\"4\" height=\"50\""), "{svg}");
        assert!(svg.contains("aria-label=\"A &lt;label&gt;\""), "{svg}");
    }

    #[test]
    fn days_without_numbers_are_an_empty_chart() {
        assert!(bars(&[(0, 0)], "none").contains("height=\"0\""));
        assert!(bars(&[], "none").contains("viewBox=\"0 0 12 100\""));
    }
}
