"use client";
// @latchkey/client/react: the session as React state, and operations with their pending state and error.
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
import type { AppTypes, ChallengeAnswer, LatchkeyClient, SignUpInput } from "./contract.js";
import type { LatchkeyError, Result } from "./errors.js";
import type { OAuthInput, OAuthStart } from "./oauth.js";
import type { SignedOut } from "./sign-out.js";
import type { Challenge, Entrance, MailSent, Metadata, Session, SignedUp, User } from "./types.js";

interface Known<M = Metadata> {
  session: Session<M> | null;
  /** Whether the session is still unknown: show neither a sign-in form nor a user. */
  isLoading: boolean;
  /** Reason for an unknown session, for example `NETWORK_ERROR`. The client retries. */
  error: LatchkeyError | null;
}

const UNKNOWN: Known = { session: null, isLoading: true, error: null };

interface Provided extends Known {
  client: LatchkeyClient;
  /** Challenge to answer. It is not stored: after a reload the user starts over. */
  challenge: Challenge | undefined;
  dismiss: () => void;
}

const Context = createContext<Provided | null>(null);

/** Properties of `LatchkeyProvider`. */
export interface LatchkeyProviderProps {
  // The types of application data do not matter here.
  client: LatchkeyClient<any>;
  /**
   * Session with which the server rendered the page; null if there was none. The first render uses it, on the server and in
   * the browser, and the client adopts it without a request. If omitted, the session is unknown at first.
   */
  initialSession?: Session | null;
  children?: ReactNode;
}

/** Provides a client to its children. Create the client once, outside of any component. */
export function LatchkeyProvider({ client, initialSession, children }: LatchkeyProviderProps): ReactElement {
  const [initial] = useState<Known & { of: LatchkeyClient }>(() => {
    const session = initialSession && { ...initialSession, expiresAt: new Date(initialSession.expiresAt ?? 0) };
    // Before any effect of a child runs. Not on a server, where the client serves all visitors.
    if (session && typeof document !== "undefined") client.hydrate(session);
    return { ...(session === undefined ? UNKNOWN : { session, isLoading: false, error: null }), of: client };
  });
  // Stored with its client: the state of another client does not apply.
  const [state, setState] = useState(initial);
  const [challenge, setChallenge] = useState<Challenge>();
  useEffect(() => {
    return client.auth.onAuthStateChange((event, session, error, asked) => {
      // An unknown session comes with an error, and a later event resolves it.
      setState({ session: session as Session | null, isLoading: error !== null, error, of: client });
      // A refresh meanwhile changes nothing about the question.
      if (!["TOKEN_REFRESHED", "USER_UPDATED"].includes(event)) setChallenge(asked);
    });
  }, [client]);
  const value = useMemo(() => {
    const { session, isLoading, error } = state.of === client ? state : UNKNOWN;
    return { session, isLoading, error, client, challenge, dismiss: () => setChallenge(undefined) };
  }, [state, client, challenge]);
  return createElement(Context.Provider, { value }, children);
}

function useKnown(): Provided {
  const known = useContext(Context);
  if (!known) throw new Error("This component needs a <LatchkeyProvider> around it.");
  return known;
}

/** Client of the provider; `Types` are those of `createClient`. */
export const useLatchkey = <Types extends AppTypes = AppTypes>(): LatchkeyClient<Types> =>
  useKnown().client as LatchkeyClient<Types>;

/** Current session, or null. It follows sign-ins, refreshes and sign-outs, in other tabs too. */
export function useSession<M = Metadata>(): Known<M> {
  const { session, isLoading, error } = useKnown() as Known<unknown> as Known<M>;
  return { session, isLoading, error };
}

/** Current user, or null. */
export function useUser<M = Metadata>(): { user: User<M> | null; isLoading: boolean; error: LatchkeyError | null } {
  const { session, isLoading, error } = useSession<M>();
  return { user: session?.user ?? null, isLoading, error };
}

/** Operation with the state of its last run. */
export interface Action<Input extends unknown[], Output extends { error: LatchkeyError | null }> {
  /** Runs the operation and returns its result. */
  run: (...input: Input) => Promise<Output>;
  isPending: boolean;
  /** Result of the last run; null until it ends. */
  result: Output | null;
  /** Error of the last run; null while a new one is pending. */
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
        // An older run does not overwrite a newer one.
        if (number === runs.current) setState({ isPending: false, result });
      }
    },
    [client, operation],
  );
  return { run, ...state, error: state.result?.error ?? null };
}

const signUp = (client: LatchkeyClient, input: SignUpInput): Promise<Result<SignedUp>> => client.auth.signUp(input);
const signIn = (client: LatchkeyClient, input: { email: string; password: string }): Promise<Result<Entrance>> =>
  client.auth.signInWithPassword(input);
const oauth = (client: LatchkeyClient, input: OAuthInput): Promise<Result<OAuthStart>> =>
  client.auth.signInWithOAuth(input);
const signOut = (client: LatchkeyClient): Promise<SignedOut> => client.auth.signOut();

/** `auth.signUp`. */
export const useSignUp = (): Action<[SignUpInput], Result<SignedUp>> => useAction(signUp);
/** `auth.signInWithPassword`. */
export const useSignInWithPassword = (): Action<[{ email: string; password: string }], Result<Entrance>> =>
  useAction(signIn);
/** `auth.signInWithOAuth`. */
export const useSignInWithOAuth = (): Action<[OAuthInput], Result<OAuthStart>> => useAction(oauth);
/** `auth.signOut`. */
export const useSignOut = (): Action<[], SignedOut> => useAction(signOut);

const answer = (client: LatchkeyClient, input: ChallengeAnswer): Promise<Result<unknown>> =>
  client.auth.answerChallenge(input);
const answerWithPasskey = (client: LatchkeyClient, challenge: Challenge): Promise<Result<unknown>> =>
  client.auth.answerChallengeWithPasskey({ challenge });
const sendCode = (client: LatchkeyClient, challenge: Challenge): Promise<Result<MailSent>> =>
  client.auth.sendChallengeCode({ challenge });

/** Challenge of a sign-in or of `auth.reauthenticate`, and its answer. */
export interface ChallengeState {
  /** Challenge to answer; undefined if there is none. It disappears with the right answer. */
  challenge: Challenge | undefined;
  /** `auth.answerChallenge`. */
  answer: Action<[ChallengeAnswer], Result<unknown>>;
  /** `auth.answerChallengeWithPasskey`. */
  answerWithPasskey: Action<[Challenge], Result<unknown>>;
  /** `auth.sendChallengeCode`. */
  sendCode: Action<[Challenge], Result<MailSent>>;
  /** Drops the challenge, to start over. */
  dismiss: () => void;
}

/** Challenge to which the user must answer. */
export function useChallenge(): ChallengeState {
  const { challenge, dismiss } = useKnown();
  return {
    challenge,
    answer: useAction(answer),
    answerWithPasskey: useAction(answerWithPasskey),
    sendCode: useAction(sendCode),
    dismiss,
  };
}
