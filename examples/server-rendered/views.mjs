// HTML views. `html` escapes all external text.
import { readFileSync } from "node:fs";
import { LANGUAGES } from "../shared/words.mjs";
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
  return String(value || value === 0 ? value : "").replace(/[&<>"']/g, (character) => ESCAPES[character]);
};
const html = (strings, ...values) =>
  new Markup(strings.reduce((text, string, index) => text + rendered(values[index - 1]) + string));

/** The look that all examples share, and that of pages without a script. */
const STYLE = new Markup(`${readFileSync(new URL("../shared/look.css", import.meta.url), "utf8")}
.list form { display: contents; }
.card > form + form, .card > p + form, .card > .list + form { margin-top: 0.9rem; }
.note { margin: 0 auto 1.25rem; max-width: 26rem; }
button.small { padding: 0.3rem 0.7rem; font-size: 0.9rem; }`);

const hidden = (fields) =>
  Object.entries(fields).map(([name, value]) => value && html`<input type="hidden" name="${name}" value="${value}">`);

/** Label of each kind of answer that is typed. */
const KINDS = { totp: "Code of your app", recovery_code: "Recovery code", password: "Password", email_code: "Code from your mail" };

/** Views in one language; each has a title and a body. */
export function viewsOf({ language, t, problem, when, event, nameOf }) {
  const complaint = (error) => (error ? html`<p role="alert">${problem(error)}</p>` : "");
  const told = (notice) => (notice ? html`<p role="status" class="good">${t(notice)}</p>` : "");
  const field = (name, label, attributes = "") => html`<label>${t(label)} <input name="${name}" required${new Markup(` ${attributes}`)}></label>`;
  const email = (value = "", kind = "username") => html`<label>${t("Email")} <input name="email" type="email" autocomplete="${kind}" required value="${value}"></label>`;
  const password = (name, kind, label = "Password") => field(name, label, `type="password" autocomplete="${kind}"`);
  const code = (name, label = "Code") => field(name, label, `class="code" inputmode="numeric" autocomplete="one-time-code"`);
  const send = (label) => html`<button class="primary">${t(label)}</button>`;
  const post = (action, label, fields = {}, look = "") => html`<form method="post" action="${action}">${hidden(fields)}<button class="${look}">${t(label)}</button></form>`;
  const card = (...body) => html`<section class="card">${body}</section>`;
  const titled = (title, ...body) => card(html`<h2>${title}</h2>`, body);

  return {
    /** Complete page. */
    page({ title, body, who = "" }) {
      const other = language === "de" ? "en" : "de";
      return html`<!doctype html><html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>${title}</title><style>${STYLE}</style></head>
        <body><header><span class="brand"><svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8"/><path d="M16 7a5 5 0 0 0-2 9.6V25h4v-3h3v-3h-3v-2.4A5 5 0 0 0 16 7Z"/></svg>Latchkey <small>${t("example")}</small></span><span id="who">${who}</span><a href="/language?to=${other}" lang="${other}">${LANGUAGES[other]}</a></header><main>${body}</main></body></html>`.text;
    },

    message: (title) => ({ title: t(title), body: card(html`<h1>${t(title)}</h1><nav><a href="/">${t("Back")}</a></nav>`) }),

    signIn: ({ error, notice, email: typed, providers = [] }) => ({
      title: t("Sign in"),
      body: card(
        html`<h1>${t("Sign in")}</h1><p class="lead">${t("Sign in to your account.")}</p>${told(notice)}
        <form method="post" action="/sign-in">${email(typed)}${password("password", "current-password")}${complaint(error)}${send("Sign in")}
          <button formaction="/mail-code" formnovalidate>${t("Mail me a code")}</button></form>`,
        providers.map((key) => post("/oauth", t("Continue with {provider}", { provider: key }), { provider: key })),
        html`<nav><a href="/sign-up">${t("Create an account")}</a><a href="/forgot">${t("Forgot your password?")}</a></nav>`,
      ),
    }),

    signUp: ({ error, email: typed, name = "" }) => ({
      title: t("Create an account"),
      body: card(html`<h1>${t("Create an account")}</h1>${complaint(error)}
        <form method="post"><label>${t("Name")} <input name="name" autocomplete="name" value="${name}"></label>${email(typed)}${password("password", "new-password")}${send("Create account")}</form>
        <nav><a href="/">${t("I have an account")}</a></nav>`),
    }),

    /** Asks for the code of a mail; `action` takes it. */
    verify: ({ error, email: address, action = "/verify" }) => ({
      title: t("Check your mail"),
      body: card(html`<h1>${t("Check your mail")}</h1><p class="lead">${t("Six digits are on their way to:")} <strong>${address}</strong></p>${complaint(error)}
        <form method="post" action="${action}">${hidden({ email: address })}${code("otp")}${send("Verify")}</form><nav><a href="/">${t("Back")}</a></nav>`),
    }),

    forgot: ({ error, email: typed }) => ({
      title: t("Forgot your password?"),
      body: card(html`<h1>${t("Forgot your password?")}</h1>${complaint(error)}<form method="post">${email(typed)}${send("Send mail")}</form><nav><a href="/">${t("Back")}</a></nav>`),
    }),

    newPassword: ({ error, email: address, otp }) => ({
      title: t("Choose a new password"),
      body: card(html`<h1>${t("Choose a new password")}</h1>${complaint(error)}
        <form method="post" action="/new-password">
          ${otp ? hidden({ otp }) : html`<p class="hint">${t("If there is an account, six digits are on their way to:")} <strong>${address}</strong></p>${hidden({ email: address })}${code("code")}`}
          ${password("newPassword", "new-password")}${send("Save")}</form>`),
    }),

    /** Question for a second factor. The challenge is in the form alone: whoever reloads starts over. */
    challenge({ error, asked, kind = asked.kinds.find((one) => KINDS[one] || one === "restore") }) {
      const fields = hidden({ challenge: asked.id, kinds: asked.kinds.join(" "), expiresAt: asked.expiresAt, kind });
      const title = t(kind === "restore" ? "Your account is being deleted" : "One more step");
      if (kind === "restore") {
        return { title, body: card(html`<h1>${title}</h1><p class="lead">${t("You can still have it back, with everything in it.")}</p>${complaint(error)}<form method="post" action="/challenge">${fields}${send("Restore my account")}</form><nav><a href="/">${t("Back")}</a></nav>`) };
      }
      if (!kind) return { title, body: card(html`<h1>${title}</h1><p>${t("This account asks for a passkey, which needs a page with a script.")}</p><nav><a href="/">${t("Back")}</a></nav>`) };
      return {
        title,
        body: card(html`<h1>${title}</h1>${complaint(error)}
          <form method="post" action="/challenge">${fields}
            <label>${t(KINDS[kind])} <input name="answer" type="${kind === "password" ? "password" : "text"}" autocomplete="off" required autofocus></label>
            ${send("Continue")}
            ${asked.kinds.filter((one) => one !== kind && KINDS[one]).map((one) => html`<button name="other" value="${one}" formnovalidate>${t("{kind} instead", { kind: t(KINDS[one]) })}</button>`)}
          </form><nav><a href="/">${t("Back")}</a></nav>`),
      };
    },

    /** Authenticator app to scan; `asked` is the challenge of a sign-in that requires one. */
    enrolment({ error, begun, asked }) {
      const { size, path } = qrOf(begun.uri);
      return {
        title: t("Scan this code"),
        body: card(html`<h1>${t("Scan this code")}</h1><p class="lead">${t("Open an authenticator app, scan the code, and type the six digits that it shows.")}</p>
          <div class="qr"><svg viewBox="0 0 ${size} ${size}" role="img" aria-label="${t("QR code")}"><path d="${path}"/></svg></div>
          <p class="hint">${t("Or type this secret:")} <code>${begun.secret}</code></p>${complaint(error)}
          <form method="post" action="/totp/confirm">${hidden({ factorId: begun.factorId, uri: begun.uri, secret: begun.secret, challenge: asked?.id })}${code("code", "Code of your app")}${send("Confirm")}</form>
          <nav><a href="/settings">${t("Cancel")}</a></nav>`),
      };
    },

    recoveryCodes: ({ codes }) => ({
      title: t("Your recovery codes"),
      body: card(html`<h1>${t("Your recovery codes")}</h1><p class="lead">${t("Each signs you in once without your app. Keep them in a safe place: they are not shown again.")}</p>
        <ul class="codes">${codes.map((one) => html`<li><code>${one}</code></li>`)}</ul><nav><a href="/settings">${t("I have stored them")}</a></nav>`),
    }),

    account: ({ error, user, profile }) => ({
      title: t("Hello {name}", { name: user.profile.name || user.email }),
      who: user.email,
      body: card(html`<h1>${t("Hello {name}", { name: user.profile.name || user.email })}</h1><p class="lead">${user.email} <span class="badge">${t(user.emailVerified ? "verified" : "not verified")}</span></p>${complaint(error)}
        <form method="post" action="/profile"><label>${t("Name")} <input name="name" value="${profile?.name}"></label><label>${t("About you")} <textarea name="bio" rows="3">${profile?.bio}</textarea></label>${send("Save profile")}</form>
        <nav><a href="/settings">${t("Settings")}</a>${post("/sign-out", "Sign out", {}, "link")}</nav>`),
    }),

    /** Asks for the codes of a change of the address that are still missing. */
    addressCodes: ({ error, change: { changeId, newEmail, email: address, needs } }) => ({
      title: t("Check your mail"),
      who: address,
      body: card(html`<h1>${t("Check your mail")}</h1>${complaint(error)}
        <form method="post" action="/address/confirm">${hidden({ changeId, newEmail, email: address, needs: needs.join(" ") })}
          ${needs.map((side) => field(side, t("Code from the mail to {email}", { email: side === "new" ? newEmail : address }), `inputmode="numeric" autocomplete="one-time-code"`))}
          ${send("Confirm")}</form>
        <nav>${post("/address/cancel", "Cancel", {}, "link")}</nav>`),
    }),

    deletion: () => ({
      title: t("Delete your account?"),
      body: card(html`<h1>${t("Delete your account?")}</h1><p class="lead">${t("Nobody sees it any more, and all sessions end. For a while you can sign in and restore it; then it is gone for good.")}</p>
        ${post("/delete", "Delete my account", {}, "danger")}<nav><a href="/settings">${t("Keep it")}</a></nav>`),
    }),

    /** Settings of the user, a card each. */
    settings({ error, notice, account, passkeys, sessions, events, nextBefore, locales }) {
      const { user, hasPassword, twoStep, totp, recoveryCodesLeft, emailChange, locale } = account;
      const state = (isOn, on, off) => html`<span class="badge${isOn ? "" : " open"}">${t(isOn ? on : off)}</span>`;
      const used = (at) => (at ? t("last used {when}", { when: when(at) }) : t("not used yet"));
      const session = ({ id, name, device, ip, lastSeenAt, current }) => html`<li><span>${name ?? device}<br><small>${[name && device, ip, when(lastSeenAt)].filter(Boolean).join(" · ")}</small></span>
        ${current ? html`<span class="badge">${t("this one")}</span>` : post("/session/end", "End", { id }, "small")}
        <form method="post" action="/session/name">${hidden({ id })}<span class="inline"><input name="name" aria-label="${t("Name of the session")}" maxlength="64" value="${name}"><button class="small">${t("Change name")}</button></span></form></li>`;
      const passkey = ({ id, name, lastUsedAt }) => html`<li><form method="post" action="/passkey/rename">${hidden({ id })}<span class="inline"><input name="name" aria-label="${t("Passkey")}" maxlength="64" required value="${name}"><button class="small">${t("Rename")}</button><button class="small" formaction="/passkey/remove" formnovalidate>${t("Remove")}</button></span></form><small>${used(lastUsedAt)}</small></li>`;
      const left = [
        titled(t("Email address"), html`<ul class="list"><li>${user.email} ${state(user.emailVerified, "confirmed", "not confirmed")}</li></ul>`,
          emailChange && html`<p class="hint">${t("A change to {email} was begun elsewhere.", { email: emailChange.newEmail })}</p>${post("/address/cancel", "Cancel the change")}`,
          html`<form method="post" action="/address">${hidden({ email: user.email })}${field("newEmail", "New address", `type="email" autocomplete="email"`)}<button>${t("Change address")}</button></form>`),
        titled(t("Password"), html`<p class="hint">${t(hasPassword ? "A change ends your other sessions." : "You sign in without a password. You can set one.")}</p>
          <form method="post" action="/password">${hasPassword ? password("currentPassword", "current-password", "Current password") : ""}${password("newPassword", "new-password", "New password")}<button>${t(hasPassword ? "Change password" : "Set a password")}</button></form>`),
        titled(html`${t("Two-step sign-in")} ${state(twoStep, "on", "off")}`, html`<p class="hint">${t("After your password, a code of an app on your phone, or a passkey.")}</p>
          <ul class="list">${totp.map((one) => html`<li><span>${one.name}<br><small>${used(one.lastUsedAt)}</small></span>${post("/totp/remove", "Remove", { id: one.id }, "small")}</li>`)}</ul>`,
          twoStep && html`<p class="hint">${t("{count} recovery codes are left.", { count: recoveryCodesLeft })}</p>`,
          html`<div class="actions">${post("/totp", "Add an authenticator app")}${twoStep ? [post("/recovery-codes", "New recovery codes"), post("/two-step/off", "Turn off")] : ""}</div>`),
        passkeys.length ? titled(t("Passkeys"), html`<ul class="list">${passkeys.map(passkey)}</ul>`) : "",
      ];
      const right = [
        titled(t("Your sessions"), html`<ul class="list">${sessions.map(session)}</ul>`, sessions.length > 1 && html`<div class="actions">${post("/sessions/end-others", "End all others")}</div>`),
        titled(t("Activity"), html`<ul class="list">${events.map((one) => html`<li><span>${event(one.kind)}<br><small>${[when(one.at), one.details.by === "admin" ? t("by an administrator") : one.device, one.ip].filter(Boolean).join(" · ")}</small></span></li>`)}</ul>`,
          nextBefore && html`<p class="actions"><a href="/settings?before=${nextBefore}">${t("Show more")}</a></p>`),
        titled(t("Language of mails"), html`<form method="post" action="/mails"><select name="locale" aria-label="${t("Language of mails")}">${locales.map((one) => html`<option value="${one}"${new Markup(locale === one || locale?.startsWith(`${one}-`) ? " selected" : "")}>${nameOf(one)}</option>`)}</select><button>${t("Save")}</button></form>`),
        titled(t("Your data"), html`<p class="hint">${t("Download what the service stores about you, or delete your account.")}</p><div class="actions">${post("/export", "Download")}<form action="/delete"><button class="danger">${t("Delete account")}</button></form></div>`),
      ];
      return {
        title: t("Settings"),
        who: user.email,
        body: html`<div class="title"><h1>${t("Settings")}</h1><a href="/">${t("Back to your account")}</a></div>${told(notice)}${complaint(error)}<div class="columns"><div>${left}</div><div>${right}</div></div>`,
      };
    },
  };
}
