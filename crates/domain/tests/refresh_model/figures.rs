//! Statistics of detected thefts over many runs.

use std::fmt;

use crate::thief::{Company, End, Toll};

/// Statistics of the thefts in many runs.
#[derive(Default)]
pub(crate) struct Figures(Vec<Toll>);

impl Figures {
    pub(crate) fn take(&mut self, toll: Toll) {
        if toll.end != End::NotTried {
            self.0.push(toll);
        }
    }

    fn of(&self, company: Company, end: Option<End>) -> impl Iterator<Item = &Toll> {
        let is_meant = move |toll: &&Toll| toll.company == company && end.is_none_or(|end| toll.end == end);
        self.0.iter().filter(is_meant)
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for company in Company::THIEVES {
            let count = |end| self.of(company, end).count();
            write!(f, "{company:?}: {} thefts", count(None))?;
            for end in [End::Caught, End::LeftBehind, End::Unseen] {
                write!(f, ", {end:?} {}", count(Some(end)))?;
            }
            let spread = |end, number: fn(&Toll) -> u32| Spread(self.of(company, end).map(number).collect());
            let caught = Some(End::Caught);
            f.write_str("\n  caught after presentations …\n")?;
            writeln!(f, "    by the owner: {}", spread(caught, |toll| toll.by_owner))?;
            writeln!(
                f,
                "    by him since the thief's first: {}",
                spread(caught, |toll| toll.by_owner_since_use)
            )?;
            writeln!(f, "    by the thief: {}", spread(caught, |toll| toll.by_thief))?;
            writeln!(f, "  caught after rotations: {}", spread(caught, |toll| toll.rotations))?;
            writeln!(f, "  tokens that the thief got in all: {}", spread(None, |toll| toll.gained))?;
        }
        Ok(())
    }
}

/// A sample of numbers. It is displayed as median, two quantiles and maximum.
struct Spread(Vec<u32>);

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let Some(last) = sorted.len().checked_sub(1) else { return f.write_str("none") };
        let [half, most, nearly_all, greatest] =
            [50, 90, 99, 100].map(|percent| sorted[last * percent / 100]);
        write!(f, "half {half}, 90 % {most}, 99 % {nearly_all}, all {greatest}")
    }
}
