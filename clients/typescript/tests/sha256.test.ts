// SHA-256 for runtimes without WebCrypto, compared with Node.js.
import { createHash, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { base64url, bytesOf } from "../src/claims.js";
import { sha256 } from "../src/sha256.js";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

test("the vectors of FIPS 180-4", () => {
  expect(hex(sha256(Buffer.from("abc")))).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  expect(hex(sha256(new Uint8Array()))).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
});

test("every length around the edges of blocks", () => {
  for (let length = 0; length < 200; length++) {
    const message = randomBytes(length);
    expect(hex(sha256(message))).toBe(createHash("sha256").update(message).digest("hex"));
  }
});

test("base64url is that of Node.js in both directions, and other characters are refused", () => {
  for (let length = 0; length < 70; length++) {
    const bytes = randomBytes(length);
    expect(base64url(bytes)).toBe(bytes.toString("base64url"));
    expect(hex(bytesOf(bytes.toString("base64url")))).toBe(hex(bytes));
  }
  for (const wrong of ["a+b/", "ab==", "a b", "é"]) expect(() => bytesOf(wrong)).toThrow(TypeError);
});
