// Two-step sign-in of the user: authenticator apps, recovery codes, and the sessions. Passkeys are in passkeys.ts.
import type { Account, BegunTotp, Challenge, TotpFactor } from "@latchkey/client";
import { encode } from "uqr";
import { auth } from "./latchkey";
import { showPasskeys } from "./passkeys";
import { badge, browserOf, button, complain, fill, item, onSubmit, part, show, small } from "./view";

/** Shows the security page. */
export async function showSecurity(): Promise<void> {
  const view = show("security");
  const { data, error } = await auth.getAccount();
  if (!view.querySelector("[data-state]")) return; // another view is shown now
  complain(view, error);
  if (data) showFactors(view, data);
  await Promise.all([showPasskeys(view, showSecurity), showSessions(view)]);
}

function showFactors(view: HTMLElement, { twoStep, totp, passkeyCount, recoveryCodesLeft }: Account): void {
  const state = part(view, "[data-state]");
  state.textContent = twoStep ? "on" : "off";
  state.classList.toggle("open", !twoStep);
  part(view, "[data-apps]").replaceChildren(...totp.map((factor) => row(view, factor)));
  fill(view, "[data-left]", twoStep ? `${recoveryCodesLeft} recovery codes are left.` : "");
  /** Shows the result of a change: its error, or the page again. */
  const after = async (change: Promise<{ error: Parameters<typeof complain>[1] }>): Promise<void> => {
    const { error } = await change;
    if (error) complain(view, error);
    else await showSecurity();
  };
  const actions = [button("Add an authenticator app", () => showEnrolment())];
  if (!twoStep && passkeyCount > 0) {
    actions.push(
      button("Turn on with your passkey", async () => {
        const { data, error } = await auth.setTwoStep(true);
        if (data?.recoveryCodes) showRecoveryCodes(data.recoveryCodes);
        else complain(view, error);
      }),
    );
  }
  if (twoStep) {
    actions.push(
      button("New recovery codes", async () => {
        const result = await auth.replaceRecoveryCodes();
        if (result.data) showRecoveryCodes(result.data.recoveryCodes);
        else complain(view, result.error);
      }),
      button("Turn off", () => after(auth.setTwoStep(false))),
    );
  }
  part(view, "[data-actions]").replaceChildren(...actions);
}

function row(view: HTMLElement, factor: TotpFactor): HTMLElement {
  const line = item("");
  const what = document.createElement("span");
  const used = factor.lastUsedAt ? `last used ${new Date(factor.lastUsedAt).toLocaleString()}` : "not used yet";
  what.append(factor.name, document.createElement("br"), small(used));
  const remove = button("Remove", async () => {
    const { error } = await auth.totp.remove(factor.id);
    if (error) complain(view, error);
    else await showSecurity();
  });
  line.append(what, remove);
  return line;
}

/** Begins an enrolment and shows its QR code; with the challenge of a sign-in that requires two steps, without a session. */
export async function showEnrolment(challenge?: Challenge): Promise<void> {
  const because = challenge && { challenge };
  const { data, error } = await auth.totp.begin({ name: "Authenticator app", ...because });
  if (!data) {
    const place = document.querySelector<HTMLElement>("main");
    if (place?.querySelector("[role=alert]")) complain(place, error);
    return;
  }
  const view = show("enrolment");
  if (challenge && auth.passkeys.isSupported()) {
    const instead = part<HTMLButtonElement>(view, "[data-passkey]");
    instead.hidden = false;
    instead.onclick = async () => {
      const made = await auth.passkeys.register({ challenge });
      if (made.data?.recoveryCodes) showRecoveryCodes(made.data.recoveryCodes);
      else if (made.error?.error !== "PASSKEY_CANCELLED") complain(view, made.error);
    };
  }
  part(view, "[data-qr]").append(qrOf(data));
  fill(view, "[data-secret]", data.secret.replace(/.{4}(?=.)/g, "$& "));
  onSubmit(view, async ({ code = "" }) => {
    const result = await auth.totp.confirm({ factorId: data.factorId, code: code.trim(), ...because });
    if (result.data?.recoveryCodes) showRecoveryCodes(result.data.recoveryCodes);
    else if (result.data) void showSecurity();
    return result;
  });
}

/** Shows recovery codes. They are in this view alone: a reload, and they are gone. */
function showRecoveryCodes(codes: string[]): void {
  const view = show("recovery-codes");
  part(view, "[data-codes]").replaceChildren(...codes.map((code) => item(code)));
  part(view, "[data-copy]").addEventListener("click", () => void navigator.clipboard.writeText(codes.join("\n")));
  part(view, "[data-done]").addEventListener("click", () => {
    history.replaceState(null, "", "#security");
    void showSecurity();
  });
}

const SVG = "http://www.w3.org/2000/svg";

/** QR code of a secret, drawn here: no other server sees it. */
function qrOf({ uri }: BegunTotp): SVGElement {
  const { data, size } = encode(uri, { border: 4 });
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${size} ${size}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", "QR code");
  const path = document.createElementNS(SVG, "path");
  const dots = data.flatMap((line, y) => line.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : "")));
  path.setAttribute("d", dots.join(""));
  svg.append(path);
  return svg;
}

async function showSessions(view: HTMLElement): Promise<void> {
  const list = view.querySelector("[data-sessions]");
  if (!list) return; // another view is shown now
  const endOthers = part<HTMLButtonElement>(view, "[data-end-others]");
  const { data } = await auth.listSessions();
  const rows = (data?.sessions ?? []).map((session) => {
    const line = item("");
    const what = document.createElement("span");
    const when = new Date(session.lastSeenAt).toLocaleString();
    what.append(browserOf(session.userAgent), document.createElement("br"), small(`${session.ip}, ${when}`));
    line.append(what);
    if (session.current) line.append(badge("this one"));
    else line.append(button("End", () => auth.endSession(session.id).then(() => showSessions(view))));
    return line;
  });
  list.replaceChildren(...rows);
  endOthers.hidden = rows.length < 2;
  endOthers.onclick = async () => {
    await auth.endOtherSessions();
    await showSessions(view);
  };
}
