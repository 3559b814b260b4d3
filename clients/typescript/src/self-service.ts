// Operations on the own account: language, first password, address, events, names of sessions, export and deletion. In the
// chunk of account.ts.
import { type AccountParts, at, replaceToken, send } from "./account-calls.js";
import type { Auth } from "./contract.js";
import type { Account, AccountInDeletion, ConfirmedEmailChange } from "./types.js";

/** Operations of `auth` in this file. */
export type SelfServiceCalls =
  | "updateAccount"
  | "setPassword"
  | "changeEmail"
  | "confirmEmailChange"
  | "cancelEmailChange"
  | "deleteAccount"
  | "exportAccount"
  | "listEvents"
  | "renameSession";

const ACCOUNT = "/api/auth/account";
const CHANGE = "/api/auth/email/change";

/** Creates the operations of one client. */
export function createSelfService(parts: AccountParts): Pick<Auth, SelfServiceCalls> {
  const { store } = parts.sessions;
  // Keys are listed, so that extra properties of the input are not sent.
  return {
    async updateAccount({ locale }) {
      const result = await send<Account>(parts, "PATCH", ACCOUNT, { body: { locale } });
      if (result.data) store.updateUser(result.data.user);
      return result;
    },
    setPassword: ({ newPassword }) => send(parts, "POST", "/api/auth/password", { body: { newPassword } }),
    changeEmail: ({ newEmail }) => send(parts, "POST", CHANGE, { body: { newEmail } }),
    async confirmEmailChange({ changeId, newCode, currentCode }) {
      const body = { changeId, newCode, currentCode };
      const result = await send<ConfirmedEmailChange>(parts, "POST", `${CHANGE}/confirm`, { body });
      if (result.data?.user) {
        store.updateUser(result.data.user);
        // The address is a claim of the token.
        replaceToken(parts, "TOKEN_REFRESHED", result.data);
      }
      return result;
    },
    cancelEmailChange: () => send(parts, "DELETE", CHANGE),
    async deleteAccount() {
      const result = await send<AccountInDeletion>(parts, "DELETE", ACCOUNT, { query: { client_type: parts.settings.clientType } });
      if (result.data) store.end();
      return result;
    },
    exportAccount: () => send(parts, "GET", `${ACCOUNT}/export`),
    listEvents: ({ before, limit } = {}) => send(parts, "GET", "/api/auth/events", { query: { before, limit } }),
    renameSession: (id, name) => send(parts, "PATCH", at("sessions", id), { body: { name } }),
  };
}
