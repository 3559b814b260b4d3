// HTML views. `html` escapes all external text.
import { qrOf } from "./qr.mjs";

/** Markup that needs no escaping. */
class Markup {
  constructor(text) {
    this.text = text;
  }
}

const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const rendered = (value) => {
  if (value instanceof Markup) return value.text;
  if (Array.isArray(value)) return value.map(rendered).join("");
  return String(value ?? "").replace(/[&<>"']/g, (character) => ESCAPES[character]);
};
const html = (strings, ...values) =>
  new Markup(strings.reduce((text, string, index) => text + rendered(values[index - 1]) + string));

const STYLE = new Markup(`
:root{color-scheme:light dark;--ink:#16181d;--soft:#5b6270;--line:#dfe2e8;--paper:#fff;--ground:#f3f4f8;--accent:#0f766e;--on:#fff;--bad:#b3261e;font:16px/1.5 system-ui,sans-serif}
@media(prefers-color-scheme:dark){:root{--ink:#eceef2;--soft:#a2a9b6;--line:#353a45;--paper:#1d2027;--ground:#13151a;--accent:#5eead4;--on:#10201e;--bad:#ffb4ab}}
*{box-sizing:border-box}body{margin:0;color:var(--ink);background:var(--ground)}
main{max-width:27rem;margin:12vh auto 4rem;padding:1.75rem;border:1px solid var(--line);border-radius:1rem;background:var(--paper);box-shadow:0 12px 32px -16px rgb(0 0 0/20%)}
h1{margin:0 0 1rem;font-size:1.5rem}h2{margin:1.75rem 0 .5rem;font-size:1rem}
form{display:grid;gap:.9rem;margin:0 0 1rem}label{display:grid;gap:.3rem;font-size:.9rem;font-weight:550}
input,textarea{padding:.6rem .75rem;border:1px solid var(--line);border-radius:.6rem;font:inherit;font-weight:400;color:inherit;background:var(--ground)}
button{padding:.65rem;border:0;border-radius:.6rem;font:inherit;font-weight:600;color:var(--on);background:var(--accent);cursor:pointer}
button.quiet{color:inherit;border:1px solid var(--line);background:none}
a{color:var(--accent)}.soft,li{color:var(--soft);font-size:.9rem;overflow-wrap:anywhere}.bad{color:var(--bad)}ul{padding-left:1.1rem}`);

/** Complete page. */
export const page = (title, body) =>
  html`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><style>${STYLE}</style></head><body><main><h1>${title}</h1>${body}</main></body></html>`.text;

const complaint = (error) => (error ? html`<p class="bad" role="alert">${error.message} ${error.nextActions}</p>` : "");
const email = (value) => html`<label>Email <input name="email" type="email" autocomplete="username" required value="${value}"></label>`;
const password = (name, kind) => html`<label>Password <input name="${name}" type="password" autocomplete="${kind}" required></label>`;

export const signIn = ({ error, notice, email: typed, providers = [] }) => ({
  title: "Sign in",
  body: html`${notice ? html`<p role="status">${notice}</p>` : ""}${complaint(error)}
    <form method="post" action="/sign-in">${email(typed)}${password("password", "current-password")}<button>Sign in</button></form>
    ${providers.map((key) => html`<form method="post" action="/oauth"><button class="quiet" name="provider" value="${key}">Continue with ${key}</button></form>`)}
    <p class="soft"><a href="/sign-up">Create an account</a> · <a href="/forgot">Forgot your password?</a></p>`,
});

export const signUp = ({ error, email: typed, name }) => ({
  title: "Create an account",
  body: html`${complaint(error)}
    <form method="post"><label>Name <input name="name" autocomplete="name" value="${name}"></label>${email(typed)}${password("password", "new-password")}<button>Create account</button></form>
    <p class="soft"><a href="/">I have an account</a></p>`,
});

export const verify = ({ error, email: address }) => ({
  title: "Check your mail",
  body: html`<p class="soft">We sent six digits to ${address}.</p>${complaint(error)}
    <form method="post"><input type="hidden" name="email" value="${address}"><label>Code <input name="otp" inputmode="numeric" autocomplete="one-time-code" required></label><button>Verify</button></form>`,
});

export const forgot = ({ error, email: typed }) => ({
  title: "Forgot your password?",
  body: html`${complaint(error)}<form method="post">${email(typed)}<button>Send mail</button></form><p class="soft"><a href="/">Back</a></p>`,
});

export const newPassword = ({ error, email: address, otp }) => ({
  title: "Choose a new password",
  body: html`${complaint(error)}
    <form method="post" action="/new-password">
      ${otp ? html`<input type="hidden" name="otp" value="${otp}">` : html`<p class="soft">If ${address} has an account, six digits are on their way; or open the link of the mail.</p><input type="hidden" name="email" value="${address}"><label>Code <input name="code" inputmode="numeric" autocomplete="one-time-code" required></label>`}
      ${password("newPassword", "new-password")}<button>Save</button></form>`,
});

/** Label of each kind of answer that is typed. */
const KINDS = { totp: "Code of your app", recovery_code: "Recovery code", password: "Password", email_code: "Code from your mail" };

/** Question for a second factor. The challenge is in the form alone: whoever reloads starts over. */
export const challenge = ({ error, asked, kind = asked.kinds.find((one) => KINDS[one]) }) => ({
  title: "One more step",
  body: !kind ? html`<p>This account asks for a passkey, which needs a page with a script.</p>` : html`${complaint(error)}
    <form method="post" action="/challenge">
      ${hidden({ challenge: asked.id, kinds: asked.kinds.join(" "), expiresAt: asked.expiresAt, kind })}
      <label>${KINDS[kind]} <input name="answer" type="${kind === "password" ? "password" : "text"}" autocomplete="off" required autofocus></label>
      <button>Continue</button>
      ${asked.kinds.filter((one) => one !== kind && KINDS[one]).map((one) => html`<button class="quiet" name="other" value="${one}" formnovalidate>${KINDS[one]} instead</button>`)}
    </form><p class="soft"><a href="/">Back</a></p>`,
});

const hidden = (fields) =>
  Object.entries(fields).map(([name, value]) => value && html`<input type="hidden" name="${name}" value="${value}">`);

/** Authenticator app to scan; `asked` is the challenge of a sign-in that requires one. */
export const enrolment = ({ error, begun, asked }) => {
  const { size, path } = qrOf(begun.uri);
  return {
    title: "Scan this code",
    body: html`<p class="soft">Open an authenticator app, scan the code, and type the six digits that it shows.</p>
      <svg viewBox="0 0 ${size} ${size}" width="224" role="img" aria-label="QR code" style="background:#fff;fill:#000"><path d="${path}"/></svg>
      <p class="soft">Or type this secret: <code>${begun.secret}</code></p>${complaint(error)}
      <form method="post" action="/totp/confirm">${hidden({ factorId: begun.factorId, uri: begun.uri, secret: begun.secret, challenge: asked?.id })}<label>Code of your app <input name="code" inputmode="numeric" autocomplete="one-time-code" required></label><button>Confirm</button></form>
      <p class="soft"><a href="/security">Cancel</a></p>`,
  };
};

export const recoveryCodes = ({ codes }) => ({
  title: "Your recovery codes",
  body: html`<p class="soft">Each signs you in once without your app. Keep them in a safe place: they are not shown again.</p>
    <ul>${codes.map((code) => html`<li><code>${code}</code></li>`)}</ul><p><a href="/security">I have stored them</a></p>`,
});

/** Passkey of another app of this service. To add one, or to sign in with one, a page needs a script. */
const passkeyOf = ({ id, name }) => html`<form method="post" action="/passkey/rename">${hidden({ id })}
    <label>Passkey <input name="name" maxlength="64" required value="${name}"></label><button class="quiet">Rename</button><button class="quiet" formaction="/passkey/remove" formnovalidate>Remove</button></form>`;

export const security = ({ error, account: { twoStep, totp, recoveryCodesLeft }, passkeys, sessions }) => ({
  title: `Two-step sign-in is ${twoStep ? "on" : "off"}`,
  body: html`${complaint(error)}
    <ul>${totp.map((one) => html`<li>${one.name}, since ${new Date(one.createdAt).toUTCString()}</li>`)}</ul>
    ${twoStep ? html`<p class="soft">${recoveryCodesLeft} recovery codes are left.</p>` : ""}
    <form method="post" action="/totp"><button>Add an authenticator app</button></form>
    ${twoStep ? html`<form method="post" action="/recovery-codes"><button class="quiet">New recovery codes</button></form><form method="post" action="/two-step/off"><button class="quiet">Turn off</button></form>` : ""}
    ${passkeys.length ? html`<h2>Passkeys</h2>${passkeys.map(passkeyOf)}` : ""}
    <h2>Your sessions</h2><ul>${sessions.map((one) => html`<li>${one.ip}, ${new Date(one.lastSeenAt).toUTCString()}${one.current ? ", this one" : ""}</li>`)}</ul>
    <p class="soft"><a href="/">Back to your account</a></p>`,
});

export const account = ({ error, user, profile }) => ({
  title: `Hello ${user.profile.name || user.email}`,
  body: html`<p class="soft">${user.email}, ${user.emailVerified ? "verified" : "not verified"}</p>${complaint(error)}
    <form method="post" action="/profile"><label>Name <input name="name" value="${profile?.name}"></label><label>About you <textarea name="bio" rows="3">${profile?.bio}</textarea></label><button>Save profile</button></form>
    <form method="post" action="/sign-out"><button class="quiet">Sign out</button></form>
    <p class="soft"><a href="/security">Security and sessions</a></p>`,
});
