// QR code as SVG path data, made on this server: no other one sees the secret.
import { encode } from "uqr";

/** Size of the code, and the path of its dark squares. */
export function qrOf(text) {
  const { data, size } = encode(text, { border: 4 });
  const path = data.flatMap((line, y) => line.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ""))).join("");
  return { size, path };
}
