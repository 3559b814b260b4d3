// What the query parameters of a redirect target say (spec 4.3), and the address without them.

/** The outcome of an emailed link, or of a sign-in with a provider that failed. */
export interface RedirectResult {
  /** `success`: the address is verified. `ready`: show the form for a new password. `error`: say why. */
  status: "success" | "ready" | "error";
  type: "verify_email" | "reset_password" | "oauth";
  /** For people; with `error`. */
  error?: string;
  /** What `resetPassword` takes as `otp`; with `ready`, always. */
  token?: string;
}

const TYPES = ["verify_email", "reset_password", "oauth"] as const;

/** Reads the address of a redirect target; null where it carries no outcome. */
export function readRedirectResult(url: string | URL, prefix = "service"): RedirectResult | null {
  const parameters = new URL(url).searchParams;
  const error = parameters.get(`${prefix}_error`) ?? "";
  // The return from a provider says what went wrong, and has no status.
  const status = parameters.get(`${prefix}_status`) ?? (error && "error");
  const type = parameters.get(`${prefix}_type`) ?? "oauth";
  const kind = TYPES.find((known) => known === type);
  if (status === "error" && kind) return { status, type: kind, error: error || "The link is not good." };
  if (status === "success" && kind === "verify_email") return { status, type: kind };
  if (status !== "ready" || kind !== "reset_password") return null;
  const token = parameters.get("token");
  return token
    ? { status: "ready", type: kind, token }
    : { status: "error", type: kind, error: "The link is incomplete." };
}

/** The address without what the service added, and `more`: codes and tokens do not belong into histories. */
export function withoutRedirectParameters(url: string | URL, prefix = "service", ...more: string[]): string {
  const clean = new URL(url);
  const added = [...["status", "type", "error", "code"].map((name) => `${prefix}_${name}`), ...more];
  const type = clean.searchParams.get(`${prefix}_type`);
  if (type === "reset_password") added.push("token");
  if (type === null && clean.searchParams.has(`${prefix}_error`)) added.push("error");
  // Only the added pairs go: rewriting all would change how the others are spelt.
  const kept = clean.search.slice(1).split("&").filter((pair) => !added.includes(pair.split("=")[0] ?? ""));
  clean.search = kept.join("&");
  return clean.href;
}
