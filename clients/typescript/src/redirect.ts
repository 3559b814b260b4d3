// Query parameters of a redirect target (spec 4.3), and the URL without them. `URL` of React Native has no `searchParams`,
// so the text is parsed here.

/** Result of an emailed link, or of a failed sign-in with a provider. */
export interface RedirectResult {
  /**
   * `success`: the email address is verified. `ready`: show the new-password form, or finish the sign-in. `error`: show
   * `error`.
   */
  status: "success" | "ready" | "error";
  type: "verify_email" | "reset_password" | "sign_in" | "oauth";
  /** Message for people; with `error`. */
  error?: string;
  /** Token for `resetPassword` (`otp`) or `verifyOtp`; set with `ready`, unless `needsCode` is. */
  token?: string;
  /** With `sign_in`: another browser asked for the mail. The code of the same mail is to be typed there. */
  needsCode?: true;
}

/** Types of results with a token. */
const WITH_TOKEN = ["reset_password", "sign_in"] as const;
const TYPES = ["verify_email", "oauth", ...WITH_TOKEN] as const;

/** Splits a URL: part before the query, query without its question mark, fragment. */
const partsOf = (url: string | URL): string[] => /^([^?#]*)\??([^#]*)(.*)$/s.exec(String(url))?.slice(1) ?? [];

/** Value of a query parameter, or null; the first of duplicates. */
export function parameterOf(url: string | URL, name: string): string | null {
  const pair = pairsOf(url).find((one) => keyOf(one) === name);
  return pair === undefined ? null : decoded(pair.slice(pair.indexOf("=") + 1 || pair.length));
}

const pairsOf = (url: string | URL): string[] => (partsOf(url)[1] as string).split("&");
const keyOf = (pair: string): string => decoded(pair.split("=")[0] as string);

function decoded(text: string): string {
  const spaced = text.replace(/\+/g, " ");
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}

const hasToken = (type?: string | null): type is (typeof WITH_TOKEN)[number] => WITH_TOKEN.some((known) => known === type);

/** Reads the redirect result from a URL; null if it has none. */
export function readRedirectResult(url: string | URL, prefix = "service"): RedirectResult | null {
  const told = (name: string): string => parameterOf(url, `${prefix}_${name}`) ?? "";
  const error = told("error");
  // A provider redirect has an error and no status.
  const status = told("status") || (error && "error");
  const type = TYPES.find((known) => known === (told("type") || "oauth"));
  if (status === "error" && type) return { status, type, error: error || "The link is not valid." };
  if (status === "success" && type === "verify_email") return { status, type };
  if (status !== "ready" || !hasToken(type)) return null;
  const token = parameterOf(url, "token");
  return token ? { status, type, token } : { status: "error", type, error: "The link is incomplete." };
}

/** Removes the parameters of the service, and `more`, from a URL: codes and tokens do not belong in the history. */
export function withoutRedirectParameters(url: string | URL, prefix = "service", ...more: string[]): string {
  const [before, , fragment] = partsOf(url);
  const type = parameterOf(url, `${prefix}_type`);
  const added = [...["status", "type", "error", "code"].map((name) => `${prefix}_${name}`), ...more];
  if (hasToken(type)) added.push("token");
  if (type === null && parameterOf(url, `${prefix}_error`) !== null) added.push("error");
  // Other pairs keep their spelling.
  const kept = pairsOf(url).filter((pair) => !added.includes(keyOf(pair))).join("&");
  return before + (kept && `?${kept}`) + fragment;
}
