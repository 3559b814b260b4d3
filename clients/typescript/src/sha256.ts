// SHA-256 (FIPS 180-4) for runtimes without WebCrypto. Loaded only there, and only for PKCE challenges, which are not
// secret: constant time is not needed.

const INITIAL = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];

const isPrime = (number: number): boolean => {
  for (let factor = 2; factor * factor <= number; factor++) if (number % factor === 0) return false;
  return true;
};

/** First 32 bits of the fractional parts of the cube roots of the first 64 primes. */
function roundConstants(): number[] {
  const constants: number[] = [];
  for (let candidate = 2; constants.length < 64; candidate++) {
    if (isPrime(candidate)) constants.push((Math.cbrt(candidate) % 1) * 2 ** 32 | 0);
  }
  return constants;
}

const rotate = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits));

/** Message with its padding: a one bit, zeros, and its length in bits. */
function padded(message: Uint8Array): DataView {
  const bytes = new Uint8Array(((message.length + 72) >> 6) << 6);
  bytes.set(message);
  bytes[message.length] = 0x80;
  const view = new DataView(bytes.buffer);
  view.setUint32(bytes.length - 8, Math.floor(message.length / 2 ** 29));
  view.setUint32(bytes.length - 4, message.length << 3);
  return view;
}

/** Message schedule of one block. */
function scheduleOf(block: DataView, offset: number): number[] {
  const words: number[] = [];
  const at = (index: number): number => words[index] as number;
  for (let index = 0; index < 64; index++) {
    if (index < 16) {
      words.push(block.getInt32(offset + index * 4));
      continue;
    }
    const [early, late] = [at(index - 15), at(index - 2)];
    const small = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const large = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    words.push((at(index - 16) + small + at(index - 7) + large) | 0);
  }
  return words;
}

/** Digest of a message. */
export function sha256(message: Uint8Array): Uint8Array {
  const constants = roundConstants();
  const data = padded(message);
  const state = [...INITIAL];
  for (let offset = 0; offset < data.byteLength; offset += 64) {
    let [a, b, c, d, e, f, g, h] = state as [number, number, number, number, number, number, number, number];
    scheduleOf(data, offset).forEach((word, index) => {
      const choice = (e & f) ^ (~e & g);
      const first = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + choice + (constants[index] as number) + word;
      const majority = (a & b) ^ (a & c) ^ (b & c);
      const second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
    });
    [a, b, c, d, e, f, g, h].forEach((value, index) => (state[index] = ((state[index] as number) + value) | 0));
  }
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((word, index) => digest.setInt32(index * 4, word));
  return new Uint8Array(digest.buffer);
}
