//! QR codes as SVG. The SVG has presentation attributes only, because pages allow no inline style.

use std::fmt::Write;

use minijinja::{Error, ErrorKind};
use qrcodegen::{QrCode, QrCodeEcc};

use crate::escape;

/// Width of the light border, in modules (ISO/IEC 18004).
const BORDER: i32 = 4;

/// Returns the QR code of a text, dark on light in every colour scheme. `label` describes the
/// picture for screen readers.
pub(crate) fn svg(text: &str, label: &str) -> Result<String, Error> {
    let code = QrCode::encode_text(text, QrCodeEcc::Low)
        .map_err(|_| Error::new(ErrorKind::InvalidOperation, "the text is too long for a QR code"))?;
    let side = code.size() + 2 * BORDER;
    let mut svg = format!(
        "<svg class=\"qr\" viewBox=\"0 0 {side} {side}\" role=\"img\" aria-label=\"{}\" shape-rendering=\"crispEdges\">\
         <path fill=\"#fff\" d=\"M0 0h{side}v{side}H0z\"/><path stroke=\"#000\" d=\"",
        escape::text(label)
    );
    for y in 0..code.size() {
        write_row(&mut svg, &code, y);
    }
    svg.push_str("\"/></svg>");
    Ok(svg)
}

/// Writes the dark modules of a row as horizontal lines of width 1.
fn write_row(path: &mut String, code: &QrCode, y: i32) {
    let mut x = 0;
    let mut end_of_last = None;
    while x < code.size() {
        if !code.get_module(x, y) {
            x += 1;
            continue;
        }
        let start = x;
        while x < code.size() && code.get_module(x, y) {
            x += 1;
        }
        // Writing to a string cannot fail.
        let _ = match end_of_last {
            None => write!(path, "M{} {}.5h{}", start + BORDER, y + BORDER, x - start),
            Some(end) => write!(path, "m{} 0h{}", start - end, x - start),
        };
        end_of_last = Some(x);
    }
}

#[cfg(test)]
mod tests {
    use super::svg;

    #[test]
    fn a_long_address_fits_the_budget_of_a_page() {
        let address = "a".repeat(254);
        let svg =
            svg(&format!("otpauth://totp/Service:{address}?secret=A234567&issuer=Service"), "A <label>")
                .unwrap();
        assert!(svg.len() < 14_000, "{}", svg.len());
        assert!(svg.contains("aria-label=\"A &lt;label&gt;\""));
    }
}
