// Passkeys of a fake client. One device holds those of all accounts, and its user agrees to everything.
import type { Auth, PasskeySignInInput, Passkeys } from "../contract.js";
import type { OwnPasskeys, Passkey, RegisteredPasskey } from "../types.js";
import type { Steps } from "./factors.js";
import { type Account, DONE, refuse, type State, type Works } from "./state.js";

/** Creates the passkey operations, and the choice of a passkey in an autofill. */
export function createPasskeys(state: State, steps: Steps) {
  /** Ends the waiting autofill. */
  let choose: (isChosen: boolean) => void = () => undefined;

  const listed = ({ user, passkeys }: Account): OwnPasskeys => ({
    passkeys: [...passkeys],
    rpId: "fake.example",
    userHandle: user.id,
    acceptedCredentialIds: passkeys.map(({ credentialId }) => credentialId),
  });

  const passkeyOf = (account: Account, id: string): Passkey =>
    account.passkeys.find((one) => one.id === id) ?? refuse(404, "NOT_FOUND");

  /** Updates `providers` of the user, which has `passkey` while there is one. */
  const keep = (account: Account, passkeys: Passkey[]): void => {
    const others = account.user.providers.filter((one) => one !== "passkey");
    account.passkeys = passkeys;
    account.user = { ...account.user, providers: passkeys.length ? [...others, "passkey"] : others };
  };

  const add = (account: Account, name = "Fake device"): Passkey => {
    const [createdAt, aaguid] = [state.at(), "00000000-0000-0000-0000-000000000000"];
    const made = { id: state.newId(), credentialId: state.newId(), name, createdAt, lastUsedAt: null, synced: true, aaguid, usable: true };
    keep(account, [...account.passkeys, made]);
    return made;
  };

  const use = (account?: Account): Account => {
    const passkey = account?.passkeys.at(-1);
    if (!account || !passkey) return refuse(0, "PASSKEY_CANCELLED");
    passkey.lastUsedAt = state.at();
    return account;
  };

  const passkeys: Works<Passkeys> = {
    register: (input) => ({ passkey: add(steps.recent(), input?.name) }) as RegisteredPasskey,
    list: () => listed(state.own()),
    rename: (id, name) => ({ passkey: Object.assign(passkeyOf(state.own(), id), { name }) }),
    remove(id) {
      const account = steps.recent();
      const passkey = passkeyOf(account, id);
      const { twoStep, totp } = account.factors;
      if (twoStep && totp.length + account.passkeys.length === 1) refuse(409, "LAST_SECOND_FACTOR");
      keep(account, account.passkeys.filter((one) => one !== passkey));
      return { ...DONE, ...listed(account) };
    },
  };

  const works: Works<Pick<Auth, "answerChallengeWithPasskey" | "signInWithPasskey">> = {
    async signInWithPasskey({ email, autofill, signal }: PasskeySignInInput = {}) {
      choose(false);
      const isChosen = !autofill || (await new Promise<boolean>((resolve) => {
        choose = resolve;
        signal?.addEventListener("abort", () => resolve(false));
      }));
      if (!isChosen || signal?.aborted) refuse(0, "PASSKEY_CANCELLED");
      const account = use(email ? state.find({ email }) : state.accounts.filter((one) => one.passkeys.length).at(-1));
      return steps.enter(account, 2);
    },
    answerChallengeWithPasskey: ({ challenge }) => steps.answer({ challenge, kind: "passkey" }, use) as never,
  };

  return { passkeys, works, add, choose: () => choose(true) };
}
