// The answer to a challenge: in a view at sign-in, in a dialog above a page that needs a fresh session.
import type { Auth, Challenge, ChallengeKind } from "@latchkey/client";
import { copyOf, fill, onSubmit, part, show } from "./view";
import { t } from "./words";

/** Label of each kind that is typed, and the mode of its field. A passkey is not typed. */
const FIELDS: { [Kind in ChallengeKind]?: { label?: string; link: string; autocomplete?: string } } = {
  passkey: { link: "Use a passkey" },
  totp: { label: "Code of your app", link: "Use your app", autocomplete: "one-time-code" },
  recovery_code: { label: "Recovery code", link: "Use a recovery code", autocomplete: "off" },
  password: { label: "Password", link: "Use your password", autocomplete: "current-password" },
  email_code: { label: "Code from your mail", link: "Mail me a code", autocomplete: "one-time-code" },
};

/** Shows the question as a view; `done` gets the data of the right answer. */
export function showChallenge<Outcome>(challenge: Challenge<Outcome>, auth: Auth, done: (data: Outcome) => void = () => {}): void {
  setUp(show("challenge"), challenge, auth, done);
}

/** Offers to restore an account in deletion. All factors were given. */
export function showRestoral(challenge: Challenge, auth: Auth): void {
  onSubmit(show("restore"), () => auth.answerChallenge({ challenge, kind: "restore" }));
}

/** Shows the question in a dialog; resolves when it was answered or closed. */
export function askInDialog(challenge: Challenge, auth: Auth): Promise<void> {
  const dialog = document.createElement("dialog");
  dialog.append(copyOf("challenge"));
  fill(dialog, "h1", t("Is it you?"));
  fill(dialog, ".lead", t("This change needs a fresh confirmation."));
  const cancel = part<HTMLAnchorElement>(dialog, "[data-back]");
  cancel.textContent = t("Cancel");
  cancel.addEventListener("click", (event) => {
    event.preventDefault();
    dialog.close();
  });
  setUp(dialog, challenge, auth, () => dialog.close());
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) =>
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve();
    }),
  );
}

/** Fills the form for the strongest kind, with links to the others. */
function setUp<Outcome>(view: HTMLElement, challenge: Challenge<Outcome>, auth: Auth, done: (data: Outcome) => void): void {
  const kinds = challenge.kinds.filter((kind) => FIELDS[kind] && (kind !== "passkey" || auth.passkeys.isSupported()));
  const input = part<HTMLInputElement>(view, "input");
  let [kind] = kinds;
  const choose = (next: ChallengeKind | undefined): void => {
    kind = next;
    const field = next && FIELDS[next];
    if (!field) return fill(view, ".lead", t("Sign in again to go on."));
    const isPasskey = next === "passkey";
    part(view, "label").hidden = isPasskey;
    fill(view, "form .primary", isPasskey ? t("Use your passkey") : t("Continue"));
    fill(view, "[data-label]", t(field.label ?? ""));
    input.type = next === "password" ? "password" : "text";
    input.setAttribute("autocomplete", field.autocomplete ?? "off");
    input.required = !isPasskey;
    input.value = "";
    part(view, isPasskey ? ".primary" : "input").focus();
    if (next === "email_code") void auth.sendChallengeCode({ challenge });
    part(view, "[data-others]").replaceChildren(
      ...kinds.filter((other) => other !== next).map((other) => {
        const link = Object.assign(document.createElement("button"), { className: "link", type: "button" });
        link.textContent = t(FIELDS[other]?.link ?? "");
        link.addEventListener("click", () => choose(other));
        return link;
      }),
    );
  };
  choose(kind);
  onSubmit(view, async ({ code = "" }) => {
    if (!kind) return;
    const typed = kind === "password" ? { password: code } : { code: code.trim() };
    const isPasskey = kind === "passkey";
    const result = await (isPasskey ? auth.answerChallengeWithPasskey({ challenge }) : auth.answerChallenge({ challenge, kind, ...typed }));
    if (result.error) input.select();
    else done(result.data);
    return result;
  });
}
