// Authenticator app (RFC 6238) over WebCrypto.

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Bytes of a Base32 text without padding; bits of an incomplete byte are dropped. */
function base32(text: string): Uint8Array<ArrayBuffer> {
  const bits = [...text].map((character) => ALPHABET.indexOf(character).toString(2).padStart(5, "0")).join("");
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
}

/**
 * Code of a secret, `later` steps of 30 seconds from now. The service accepts one step before and after, and no step twice:
 * take 0 first and 1 next.
 */
export async function totpOf(secret: string, later = 0): Promise<string> {
  const counter = new DataView(new ArrayBuffer(8));
  counter.setBigUint64(0, BigInt(Math.floor(Date.now() / 30_000) + later));
  const key = await crypto.subtle.importKey("raw", base32(secret), { name: "HMAC", hash: "SHA-1" }, false, ["sign"]);
  const mac = new DataView(await crypto.subtle.sign("HMAC", key, counter));
  const number = mac.getUint32(mac.getUint8(19) & 15) & 0x7fff_ffff;
  return `${number % 1_000_000}`.padStart(6, "0");
}
