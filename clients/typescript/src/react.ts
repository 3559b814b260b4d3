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
  useRef,
  useState,
} from "react";
import type { AppTypes, LatchkeyClient, SignUpInput } from "./contract.js";
import type { LatchkeyError, Result } from "./errors.js";
import type { OAuthInput, OAuthStart } from "./oauth.js";
import type { SignedOut } from "./sign-out.js";
import type { Metadata, Session, SignedIn, SignedUp, User } from "./types.js";

interface Known<M = Metadata> {
  session: Session<M> | null;
  /** Whether the session is unknown yet: show neither a sign-in form nor a user. */
  isLoading: boolean;
  /** Reason why the session is unknown yet, for example `NETWORK_ERROR`. It is tried again. */
  error: LatchkeyError | null;
}

const UNKNOWN: Known = { session: null, isLoading: true, error: null };

const Context = createContext<(Known & { client: LatchkeyClient }) | null>(null);

/** Properties of `LatchkeyProvider`. */
export interface LatchkeyProviderProps {
  // The types of the app's own data do not matter here.
  client: LatchkeyClient<any>;
  /**
   * Session with which the server rendered the page; null if there was none. The first render shows it, on the server and
   * in the browser, and the client goes on with it without a request. Left out: unknown until the client looked.
   */
  initialSession?: Session | null;
  children?: ReactNode;
}

/** Gives a client to the components below. Create the client once, outside of any component. */
export function LatchkeyProvider({ client, initialSession, children }: LatchkeyProviderProps): ReactElement {
  const [initial] = useState<Known & { of: LatchkeyClient }>(() => {
    const session = initialSession && { ...initialSession, expiresAt: new Date(initialSession.expiresAt ?? 0) };
    // Before effects of components below call anything. On a server the client serves every visitor.
    if (session && typeof document !== "undefined") client.hydrate(session);
    return { ...(session === undefined ? UNKNOWN : { session, isLoading: false, error: null }), of: client };
  });
  // With its client: the state of another one says nothing of this.
  const [state, setState] = useState(initial);
  useEffect(() => {
    // Where nothing is known yet there is an error, and a later event.
    return client.auth.onAuthStateChange((_, session, error) =>
      setState({ session: session as Session | null, isLoading: error !== null, error, of: client }),
    );
  }, [client]);
  const value = useMemo(() => {
    const { session, isLoading, error } = state.of === client ? state : UNKNOWN;
    return { session, isLoading, error, client };
  }, [state, client]);
  return createElement(Context.Provider, { value }, children);
}

function useKnown(): Known & { client: LatchkeyClient } {
  const known = useContext(Context);
  if (!known) throw new Error("This component needs a <LatchkeyProvider> around it.");
  return known;
}

/** The client of the provider; `Types` are those of `createClient`. */
export const useLatchkey = <Types extends AppTypes = AppTypes>(): LatchkeyClient<Types> =>
  useKnown().client as LatchkeyClient<Types>;

/** The session, or null. It follows sign-ins, refreshes and sign-outs, those of other tabs too. */
export function useSession<M = Metadata>(): Known<M> {
  const { session, isLoading, error } = useKnown() as Known<unknown> as Known<M>;
  return { session, isLoading, error };
}

/** The user of the session, or null. */
export function useUser<M = Metadata>(): { user: User<M> | null; isLoading: boolean; error: LatchkeyError | null } {
  const { session, isLoading, error } = useSession<M>();
  return { user: session?.user ?? null, isLoading, error };
}

/** An operation with the state of its last run. */
export interface Action<Input extends unknown[], Output extends { error: LatchkeyError | null }> {
  /** Runs it; the result is also returned. */
  run: (...input: Input) => Promise<Output>;
  isPending: boolean;
  /** The result of the last run; null before it ended. */
  result: Output | null;
  /** Its error; null while it runs again. */
  error: LatchkeyError | null;
}

function useAction<Input extends unknown[], Output extends { error: LatchkeyError | null }>(
  operation: (client: LatchkeyClient, ...input: Input) => Promise<Output>,
): Action<Input, Output> {
  const client = useLatchkey();
  const [state, setState] = useState<{ isPending: boolean; result: Output | null }>({ isPending: false, result: null });
  const runs = useRef(0);
  const run = useCallback(
    async (...input: Input) => {
      const number = ++runs.current;
      let result: Output | null = null;
      setState({ isPending: true, result });
      try {
        result = await operation(client, ...input);
        return result;
      } finally {
        // The answer of an older run does not take the place of a newer.
        if (number === runs.current) setState({ isPending: false, result });
      }
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
const signOut = (client: LatchkeyClient): Promise<SignedOut> => client.auth.signOut();

/** `auth.signUp`. */
export const useSignUp = (): Action<[SignUpInput], Result<SignedUp>> => useAction(signUp);
/** `auth.signInWithPassword`. */
export const useSignInWithPassword = (): Action<[{ email: string; password: string }], Result<SignedIn>> =>
  useAction(signIn);
/** `auth.signInWithOAuth`. */
export const useSignInWithOAuth = (): Action<[OAuthInput], Result<OAuthStart>> => useAction(oauth);
/** `auth.signOut`. */
export const useSignOut = (): Action<[], SignedOut> => useAction(signOut);
