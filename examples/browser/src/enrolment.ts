// Enrolment of an authenticator app, and the recovery codes after it.
import type { BegunTotp, Challenge } from "@latchkey/client";
import { encode } from "uqr";
import { auth } from "./latchkey";
import { showSettings } from "./settings";
import { complain, fill, item, onSubmit, part, show } from "./view";
import { t } from "./words";

/** Begins an enrolment and shows its QR code; with the challenge of a sign-in that requires two steps, without a session. */
export async function showEnrolment(challenge?: Challenge): Promise<void> {
  const because = challenge && { challenge };
  const { data, error } = await auth.totp.begin({ name: t("Authenticator app"), ...because });
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
      else complain(view, made.error);
    };
  }
  part(view, "[data-qr]").append(qrOf(data));
  fill(view, "[data-secret]", data.secret.replace(/.{4}(?=.)/g, "$& "));
  onSubmit(view, async ({ code = "" }) => {
    const result = await auth.totp.confirm({ factorId: data.factorId, code: code.trim(), ...because });
    if (result.data?.recoveryCodes) showRecoveryCodes(result.data.recoveryCodes);
    else if (result.data) void showSettings();
    return result;
  });
}

/** Shows recovery codes. They are in this view alone: a reload, and they are gone. */
export function showRecoveryCodes(codes: string[]): void {
  const view = show("recovery-codes");
  part(view, "[data-codes]").replaceChildren(...codes.map((code) => item(code)));
  part(view, "[data-copy]").addEventListener("click", () => void navigator.clipboard.writeText(codes.join("\n")));
  part(view, "[data-done]").addEventListener("click", () => {
    history.replaceState(null, "", "#settings");
    void showSettings();
  });
}

const SVG = "http://www.w3.org/2000/svg";

/** QR code of a secret, drawn here: no other server sees it. */
function qrOf({ uri }: BegunTotp): SVGElement {
  const { data, size } = encode(uri, { border: 4 });
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${size} ${size}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", t("QR code"));
  const path = document.createElementNS(SVG, "path");
  const dots = data.flatMap((line, y) => line.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : "")));
  path.setAttribute("d", dots.join(""));
  svg.append(path);
  return svg;
}
