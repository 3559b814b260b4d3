"use client";
// @latchkey/client/react: the session as React state, and the operations with "is it running" and "what went wrong".
import {
  createContext,
  createElement,
  type ReactElement,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useState,
} from "react";
import type { SignUpInput } from "./auth.js";
import type { LatchkeyClient } from "./client.js";
import type { LatchkeyError, Result } from "./errors.js";
import type { OAuthInput, OAuthStart } from "./oauth.js";
import type { Session, SignedIn, SignedUp, User } from "./types.js";

interface Known {
  session: Session | null;
  /** Nothing is known of a session yet: show neither a sign-in form nor a user. */
  isLoading: boolean;
}

const Context = createContext<(Known & { client: LatchkeyClient }) | null>(null);

/** Gives a client to the components below. Make the client once, outside of any component. */
export function LatchkeyProvider(props: { client: LatchkeyClient; children?: ReactNode }): ReactElement {
  const { client, children } = props;
  const [known, setKnown] = useState<Known>({ session: null, isLoading: true });
  useEffect(
    () => client.auth.onAuthStateChange((_, session) => setKnown({ session, isLoading: false })),
    [client],
  );
  const value = useMemo(() => ({ ...known, client }), [known, client]);
  return createElement(Context.Provider, { value }, children);
}

function useKnown(): Known & { client: LatchkeyClient } {
  const known = useContext(Context);
  if (!known) throw new Error("This component needs a <LatchkeyProvider> around it.");
  return known;
}

/** The client of the provider. */
export const useLatchkey = (): LatchkeyClient => useKnown().client;

/** The session, or null; it follows sign-ins, refreshes and sign-outs, of other tabs too. */
export function useSession(): Known {
  const { session, isLoading } = useKnown();
  return { session, isLoading };
}

/** The user of the session, or null. */
export function useUser(): { user: User | null; isLoading: boolean } {
  const { session, isLoading } = useKnown();
  return { user: session?.user ?? null, isLoading };
}

/** An operation with the state of its last run. */
export interface Action<Input extends unknown[], Output extends { error: LatchkeyError | null }> {
  /** Runs it; the result is also returned. */
  run: (...input: Input) => Promise<Output>;
  isPending: boolean;
  /** The result of the last run that ended; null before. */
  result: Output | null;
  /** Its error; null while it runs again. */
  error: LatchkeyError | null;
}

function useAction<Input extends unknown[], Output extends { error: LatchkeyError | null }>(
  operation: (client: LatchkeyClient, ...input: Input) => Promise<Output>,
): Action<Input, Output> {
  const client = useLatchkey();
  const [state, setState] = useState<{ isPending: boolean; result: Output | null }>({ isPending: false, result: null });
  const run = useCallback(
    async (...input: Input) => {
      setState({ isPending: true, result: null });
      const result = await operation(client, ...input);
      setState({ isPending: false, result });
      return result;
    },
    [client, operation],
  );
  return { run, ...state, error: state.result?.error ?? null };
}



const signUp = (client: LatchkeyClient, input: SignUpInput): Promise<Result<SignedUp>> => client.auth.signUp(input);
const signIn = (client: LatchkeyClient, input: { email: string; password: string }): Promise<Result<SignedIn>> =>
  client.auth.signInWithPassword(input);
const oauth = (client: LatchkeyClient, input: OAuthInput): Promise<Result<OAuthStart>> =>
  client.auth.signInWithOAuth(input);
const signOut = (client: LatchkeyClient): Promise<{ error: LatchkeyError | null }> => client.auth.signOut();

/** `auth.signUp`. */
export const useSignUp = (): Action<[SignUpInput], Result<SignedUp>> => useAction(signUp);
/** `auth.signInWithPassword`. */
export const useSignInWithPassword = (): Action<[{ email: string; password: string }], Result<SignedIn>> =>
  useAction(signIn);
/** `auth.signInWithOAuth`. */
export const useSignInWithOAuth = (): Action<[OAuthInput], Result<OAuthStart>> => useAction(oauth);
/** `auth.signOut`. */
export const useSignOut = (): Action<[], { error: LatchkeyError | null }> => useAction(signOut);
