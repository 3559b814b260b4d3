//! Colours in sRGB and their contrast (WCAG 2.2, relative luminance and contrast ratio).

use std::fmt;

/// Opaque colour in sRGB. Displayed as in CSS: `#2f5bd0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colour {
    channels: [u8; 3],
}

/// Error: the text does not have the form `#rgb` or `#rrggbb`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a colour is written as # and three or six hexadecimal digits, such as #2f5bd0")]
pub struct InvalidColour;

impl Colour {
    pub const BLACK: Self = Self { channels: [0; 3] };
    pub const WHITE: Self = Self { channels: [255; 3] };

    /// Creates a colour from `0xrrggbb`.
    #[must_use]
    pub const fn new(rgb: u32) -> Self {
        let [_, red, green, blue] = rgb.to_be_bytes();
        Self { channels: [red, green, blue] }
    }

    /// Parses `#rgb` or `#rrggbb`.
    pub fn parse(text: &str) -> Result<Self, InvalidColour> {
        let digits = text.strip_prefix('#').ok_or(InvalidColour)?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(InvalidColour);
        }
        let number = u32::from_str_radix(digits, 16).map_err(|_| InvalidColour)?;
        match digits.len() {
            6 => Ok(Self::new(number)),
            3 => {
                let double = |shift: u32| (number >> shift & 0xf) * 0x11;
                Ok(Self::new(double(8) << 16 | double(4) << 8 | double(0)))
            }
            _ => Err(InvalidColour),
        }
    }

    /// Returns the relative luminance, from 0 (black) to 1 (white).
    #[must_use]
    pub fn luminance(self) -> f64 {
        let linear = self.channels.map(|channel| {
            let value = f64::from(channel) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }

    /// Returns the contrast ratio of two colours, from 1 to 21.
    #[must_use]
    pub fn contrast(self, other: Self) -> f64 {
        let (one, two) = (self.luminance(), other.luminance());
        (one.max(two) + 0.05) / (one.min(two) + 0.05)
    }

    /// Returns black or white, whichever has more contrast to this colour. The contrast is at least 4.5 to 1.
    #[must_use]
    pub fn opposite(self) -> Self {
        if self.contrast(Self::WHITE) >= self.contrast(Self::BLACK) { Self::WHITE } else { Self::BLACK }
    }

    /// Returns the mixture with another colour; `percent` is the share of the other.
    #[must_use]
    pub fn mixed(self, other: Self, percent: u16) -> Self {
        let percent = percent.min(100);
        let mut channels = self.channels;
        for (own, other) in channels.iter_mut().zip(other.channels) {
            let sum = u16::from(*own) * (100 - percent) + u16::from(other) * percent;
            *own = u8::try_from((sum + 50) / 100).unwrap_or(u8::MAX);
        }
        Self { channels }
    }

    /// Returns this colour if it has enough contrast to all of these backgrounds. Otherwise returns the nearest mixture
    /// with black or white that has.
    #[must_use]
    pub fn readable_on(self, grounds: &[Self], ratio: f64) -> Self {
        let lowest = |colour: Self| grounds.iter().map(|g| colour.contrast(*g)).fold(f64::INFINITY, f64::min);
        let end = if lowest(Self::BLACK) >= lowest(Self::WHITE) { Self::BLACK } else { Self::WHITE };
        (0..=100).map(|percent| self.mixed(end, percent)).find(|one| lowest(*one) >= ratio).unwrap_or(end)
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [red, green, blue] = self.channels;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_read_and_written() {
        assert_eq!(Colour::parse("#2f5bd0").unwrap().to_string(), "#2f5bd0");
        assert_eq!(Colour::parse("#f0A").unwrap().to_string(), "#ff00aa");
        for text in ["", "#", "2f5bd0", "#2f5bd", "#+12345", "#2f5bd0;}", "#gggggg", "red"] {
            assert_eq!(Colour::parse(text), Err(InvalidColour), "{text}");
        }
    }

    #[test]
    fn contrast_is_that_of_wcag() {
        let close =
            |ratio: f64, expected: f64| assert!((ratio - expected).abs() < 0.01, "{ratio} {expected}");
        close(Colour::BLACK.contrast(Colour::WHITE), 21.0);
        close(Colour::new(0x0077_7777).contrast(Colour::WHITE), 4.48);
        close(Colour::new(0x0000_00ff).contrast(Colour::WHITE), 8.59);
        close(Colour::new(0x00ff_ff00).contrast(Colour::WHITE), 1.07);
    }

    #[test]
    fn every_colour_has_a_readable_opposite() {
        for step in 0..4096_u32 {
            let double = |shift: u32| (step >> shift & 0xf) * 0x11;
            let colour = Colour::new(double(8) << 16 | double(4) << 8 | double(0));
            assert!(colour.contrast(colour.opposite()) >= 4.5, "{colour}");
            let grounds = [colour, colour.mixed(colour.opposite(), 0)];
            assert!(Colour::new(0x0080_8080).readable_on(&grounds, 4.5).contrast(colour) >= 4.5, "{colour}");
        }
    }
}
