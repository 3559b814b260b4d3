// Operations of a fake client on the own account: language, address, first password, sessions, events, export and deletion.
import type { Auth } from "../contract.js";
import type { SelfServiceCalls } from "../self-service.js";
import type { OwnSession } from "../types.js";
import type { Steps } from "./factors.js";
import { type Account, DONE, refuse, type State, strong, type Works } from "./state.js";

/** Milliseconds for which a change of the address lives, and until a deleted account is gone. */
const [CHANGE_LIFE, GRACE] = [1_800_000, 1_209_600_000];

type Names = SelfServiceCalls | "listSessions" | "endSession" | "endOtherSessions";

/** Creates the operations of one fake client. */
export function createSelfService(state: State, steps: Steps): Works<Pick<Auth, Names>> {
  const sessionOf = ({ user: { createdAt }, sessionName }: Account): OwnSession => {
    const authTime = new Date(state.shown.at).toISOString();
    const { level } = state.shown;
    const more = { device: "Fake device", name: sessionName, amr: [], level, authTime };
    return { id: "fake", createdAt, lastSeenAt: authTime, userAgent: "", ip: "", current: true, ...more };
  };
  const isHere = (id: string): void => void (id === "fake" || refuse(404, "NOT_FOUND"));
  const account = (): ReturnType<typeof steps.accountOf> => steps.accountOf(state.own());

  return {
    updateAccount({ locale }) {
      state.own().locale = locale;
      return account();
    },
    setPassword({ newPassword }) {
      const own = steps.recent();
      if (own.password) refuse(400, "VALIDATION_ERROR", { field: "currentPassword" });
      strong(newPassword);
      own.password = newPassword;
      return DONE;
    },
    changeEmail({ newEmail }) {
      const own = steps.recent();
      if (state.find({ email: newEmail }) === own) refuse(400, "VALIDATION_ERROR", { field: "newEmail" });
      const needsBoth = own.user.emailVerified && !own.factors.twoStep;
      if (needsBoth) state.sendMail(own.user);
      // No code exists for the address of another account.
      const newCode = state.find({ email: newEmail }) ? undefined : state.newCode();
      const needs = needsBoth ? (["new", "current"] as const) : (["new"] as const);
      const change = { changeId: state.newId(), newEmail, newCode, expiresAt: state.at(CHANGE_LIFE), needs: [...needs] };
      own.change = change;
      return { ...DONE, changeId: change.changeId, expiresAt: change.expiresAt, needs: [...needs] };
    },
    confirmEmailChange({ changeId, newCode, currentCode }) {
      const own = state.own();
      const { change } = own;
      if (!change || change.changeId !== changeId || state.at() >= change.expiresAt) return refuse(404, "NOT_FOUND");
      let isWrong = false;
      for (const [side, given, code] of [["new", newCode, change.newCode], ["current", currentCode, own.code]] as const) {
        if (given && given === code) change.needs = change.needs.filter((one) => one !== side);
        else if (given) isWrong = true;
      }
      if (isWrong) refuse(400, "INVALID_CODE");
      if (change.needs.length) return { needs: change.needs };
      own.change = own.code = undefined;
      const user = (own.user = { ...own.user, email: change.newEmail, emailVerified: true });
      state.tell("USER_UPDATED", state.session && { ...state.session, user });
      return { user, accessToken: state.session?.accessToken ?? "" };
    },
    cancelEmailChange() {
      state.own().change = undefined;
      return DONE;
    },
    deleteAccount() {
      const deletesAt = (steps.recent().deletesAt = state.at(GRACE));
      state.leave();
      return { deletesAt };
    },
    exportAccount() {
      const own = steps.recent();
      const { passkeys, events } = own;
      const emails = [{ email: own.user.email, current: true, reservedUntil: null }];
      return { exportedAt: state.at(), account: account(), profile: null, identities: [], passkeys, sessions: [sessionOf(own)], events, emails };
    },
    listEvents: () => ({ events: [...state.own().events], nextBefore: null }),
    listSessions: () => ({ sessions: [sessionOf(state.own())] }),
    renameSession(id, name) {
      isHere(id);
      const own = state.own();
      own.sessionName = name;
      return { session: sessionOf(own) };
    },
    endSession(id) {
      state.own();
      isHere(id);
      state.leave();
      return { ...DONE, endedCount: 1 };
    },
    endOtherSessions: () => (state.own(), { ...DONE, endedCount: 0 }),
  };
}
