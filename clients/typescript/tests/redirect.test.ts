// The query parameters of spec 4.3.
import { describe, expect, test } from "vitest";
import { readRedirectResult, withoutRedirectParameters } from "../src/index.js";

const APP = "https://app.example/welcome";

describe("readRedirectResult", () => {
  test.each([
    ["", null],
    ["?service_status=other&service_type=verify_email", null],
    ["?service_status=success&service_type=other", null],
    ["?service_status=success&service_type=reset_password", null],
    ["?service_status=ready&token=abc", null],
    ["?service_status=ready&service_type=verify_email&token=abc", null],
    ["?service_status=success&service_type=verify_email", { status: "success", type: "verify_email" }],
    [
      "?service_status=error&service_type=verify_email&service_error=The+link+is+too+old.",
      { status: "error", type: "verify_email", error: "The link is too old." },
    ],
    [
      "?x=1&service_status=ready&service_type=reset_password&token=abc",
      { status: "ready", type: "reset_password", token: "abc" },
    ],
    ["?service_status=ready&service_type=sign_in&token=abc", { status: "ready", type: "sign_in", token: "abc" }],
    [
      "?service_status=error&service_type=sign_in&service_error=The+link+is+too+old.",
      { status: "error", type: "sign_in", error: "The link is too old." },
    ],
  ])("reads %j", (query, result) => {
    expect(readRedirectResult(APP + query)).toEqual(result);
  });

  test("returns an error instead of a form without a token", () => {
    expect(readRedirectResult(`${APP}?service_status=ready&service_type=reset_password`)).toMatchObject({
      status: "error",
      type: "reset_password",
    });
  });

  test("returns no token of an invalid link", () => {
    const result = readRedirectResult(`${APP}?service_status=error&service_type=reset_password&token=abc`);
    expect(result).not.toHaveProperty("token");
  });

  test("reads the first of two, spaces, and what is no escape, and nothing of the fragment", () => {
    const read = (query: string) => readRedirectResult(`${APP}${query}`);
    const error = "?service_type=verify_email&service_status=error&service_error=";

    expect(read(`${error}a+b%20c&service_error=d`)?.error).toBe("a b c");
    expect(read(`${error}100%`)?.error).toBe("100%");
    expect(read(`${error}a=b`)?.error).toBe("a=b");
    expect(read("#?service_status=success&service_type=verify_email")).toBeNull();
  });

  test("knows another prefix", () => {
    const url = `${APP}?auth_status=success&auth_type=verify_email`;
    expect(readRedirectResult(url)).toBeNull();
    expect(readRedirectResult(url, "auth")?.status).toBe("success");
  });
});

describe("withoutRedirectParameters", () => {
  test.each([
    ["?service_status=success&service_type=verify_email", ""],
    ["?a=%7E+b&service_code=secret&c#part", "?a=%7E+b&c#part"],
    ["?service_status=ready&service_type=reset_password&token=abc&x=1", "?x=1"],
    ["?service_status=ready&service_type=sign_in&token=abc&x=1", "?x=1"],
    ["?token=the-app's-own", "?token=the-app's-own"],
    ["?service%5Fcode=secret&x=%zz#?service_code=fragment", "?x=%zz#?service_code=fragment"],
  ])("turns %j into %j", (query, rest) => {
    expect(withoutRedirectParameters(APP + query)).toBe(APP + rest);
  });
});
