// Settings of the user: the page, and the actions of its forms.

/** Messages of the page, by the code in its URL. */
const NOTICES = {
  address: "Your address is changed.",
  password: "Your password is changed.",
  "first-password": "Your password is set.",
};

/** The page, with the error of a change; or the question whether it is the user, who then repeats the change. */
export async function settingsPage({ client, views, fields }, error) {
  const { auth } = client;
  if (error?.error === "REAUTHENTICATION_REQUIRED") {
    const { data } = await auth.reauthenticate();
    if (data) return views.challenge({ asked: data.challenge });
  }
  const { data: account } = await auth.getAccount();
  if (!account) return { redirect: "/" };
  const { before, notice } = error ? {} : fields;
  const [own, keys, log, config] = await Promise.all([
    auth.listSessions(),
    auth.passkeys.list(),
    auth.listEvents({ limit: 8, ...(before && { before }) }),
    auth.getPublicConfig(),
  ]);
  return {
    ...(error && { status: 400 }),
    ...views.settings({
      error,
      notice: Object.hasOwn(NOTICES, notice ?? "") ? NOTICES[notice] : undefined,
      account,
      sessions: own.data?.sessions ?? [],
      passkeys: keys.data?.passkeys ?? [],
      events: log.data?.events ?? [],
      nextBefore: log.data?.nextBefore,
      locales: config.data?.locales ?? [],
    }),
  };
}

/** Result of a change: its recovery codes if there are new ones, else the page. */
const changed = (context, { data, error }, notice = "") => {
  if (error) return settingsPage(context, error);
  return data.recoveryCodes ? context.views.recoveryCodes({ codes: data.recoveryCodes }) : { redirect: `/settings${notice && `?notice=${notice}`}` };
};

/** Pages by GET. */
export const settingsPages = {
  "/settings": async (context) => settingsPage(context),
  "/delete": async ({ views }) => views.deletion(),
};

/** Actions by POST. */
export const settingsActions = {
  "/address": async (context) => {
    const { client, views, fields } = context;
    const { newEmail, email } = fields;
    const { data, error } = await client.auth.changeEmail({ newEmail });
    // The id of the change is in the form alone.
    return error ? settingsPage(context, error) : views.addressCodes({ change: { ...data, newEmail, email } });
  },
  "/address/confirm": async (context) => {
    const { client, views, fields } = context;
    const { changeId, newEmail, email, needs, new: newCode, current: currentCode } = fields;
    const codes = { ...(newCode && { newCode: newCode.trim() }), ...(currentCode && { currentCode: currentCode.trim() }) };
    const { data, error } = await client.auth.confirmEmailChange({ changeId, ...codes });
    if (data?.user) return { redirect: "/settings?notice=address" };
    if (error && error.error !== "INVALID_CODE") return settingsPage(context, error);
    // A right code counts beside a wrong one.
    const { proven = [] } = (await client.auth.getAccount()).data?.emailChange ?? {};
    const left = needs.split(" ").filter((side) => !proven.includes(side));
    return { ...(error && { status: 400 }), ...views.addressCodes({ error, change: { changeId, newEmail, email, needs: left } }) };
  },
  "/address/cancel": async (context) => changed(context, await context.client.auth.cancelEmailChange()),
  "/password": async (context) => {
    const { auth } = context.client;
    const { currentPassword, newPassword } = context.fields;
    if (currentPassword === undefined) return changed(context, await auth.setPassword({ newPassword }), "first-password");
    return changed(context, await auth.changePassword({ currentPassword, newPassword }), "password");
  },
  "/totp": async (context) => {
    const { data, error } = await context.client.auth.totp.begin({ name: context.words.t("Authenticator app") });
    return error ? settingsPage(context, error) : context.views.enrolment({ begun: data });
  },
  "/totp/remove": async (context) => changed(context, await context.client.auth.totp.remove(context.fields.id)),
  "/recovery-codes": async (context) => changed(context, await context.client.auth.replaceRecoveryCodes()),
  "/two-step/off": async (context) => changed(context, await context.client.auth.setTwoStep(false)),
  "/passkey/rename": async (context) => {
    const { id, name } = context.fields;
    return changed(context, await context.client.auth.passkeys.rename(id, name.trim()));
  },
  "/passkey/remove": async (context) => changed(context, await context.client.auth.passkeys.remove(context.fields.id)),
  "/session/name": async (context) => {
    const { id, name } = context.fields;
    return changed(context, await context.client.auth.renameSession(id, name.trim() || null));
  },
  "/session/end": async (context) => changed(context, await context.client.auth.endSession(context.fields.id)),
  "/sessions/end-others": async (context) => changed(context, await context.client.auth.endOtherSessions()),
  "/mails": async (context) => changed(context, await context.client.auth.updateAccount({ locale: context.fields.locale })),
  "/export": async (context) => {
    const { data, error } = await context.client.auth.exportAccount();
    return error ? settingsPage(context, error) : { download: JSON.stringify(data, null, 2), name: "account.json" };
  },
  "/delete": async (context) => {
    const { error } = await context.client.auth.deleteAccount();
    return error ? settingsPage(context, error) : { redirect: "/?notice=deleted" };
  },
};
