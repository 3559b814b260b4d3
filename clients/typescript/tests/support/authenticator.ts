// Authenticator in software, as `navigator.credentials` and `PublicKeyCredential` of a page (WebAuthn Level 3).
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { vi } from "vitest";
import { fakeLocks } from "./locks.js";

/** Stored passkey. */
interface Stored {
  id: Buffer;
  rpId: string;
  userHandle: Buffer;
  key: KeyObject;
}

/** Request that reached the authenticator. */
export interface Asked {
  publicKey: any;
  mediation?: string;
  signal?: AbortSignal;
}

/** Authenticator of a page. */
export interface Authenticator {
  /** Passkeys, newest last. */
  stored: Stored[];
  asked: Asked[];
  /** Signals to the app that stores passkeys, in order. */
  signals: [string, any][];
  /** Name of the exception of the next request. */
  refusal: string | undefined;
  /** Chooses the newest passkey in the waiting autofill. */
  choose(): void;
}

const UP = 0x01;
const UV = 0x04;
const BE = 0x08;
const BS = 0x10;
const AT = 0x40;
const SIGNALS = ["signalUnknownCredential", "signalAllAcceptedCredentials", "signalCurrentUserDetails"];

const sha256 = (data: string | Buffer): Buffer => createHash("sha256").update(data).digest();
const buffer = (bytes: Buffer): ArrayBuffer => Uint8Array.from(bytes).buffer;
/** CBOR (RFC 8949) of texts, byte strings below 256 bytes, small integers, and maps. */
function cbor(value: unknown): Buffer {
  const head = (major: number, length: number): Buffer =>
    length < 24 ? Buffer.from([(major << 5) | length]) : Buffer.from([(major << 5) | 24, length]);
  if (typeof value === "number") return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === "string") return Buffer.concat([head(3, value.length), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  const pairs = [...(value as Map<unknown, unknown>)];
  return Buffer.concat([head(5, pairs.length), ...pairs.flat().map(cbor)]);
}

/** Public key in COSE form: ES256 (RFC 9053). */
function coseOf(publicKey: KeyObject): Buffer {
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  const [left, right] = [Buffer.from(x, "base64url"), Buffer.from(y, "base64url")];
  return cbor(new Map<number, unknown>([[1, 2], [3, -7], [-1, 1], [-2, left], [-3, right]]));
}

const authData = (rpId: string, flags: number, more = Buffer.alloc(0)): Buffer =>
  Buffer.concat([sha256(rpId), Buffer.from([flags]), Buffer.alloc(4), more]);

const refuse = (name: string): never => {
  throw new DOMException(`It is ${name}.`, name);
};

/** Puts an authenticator into the global scope; `vi.unstubAllGlobals` removes it. */
export function plugIn(origin = "http://localhost:5173", signals = SIGNALS): Authenticator {
  let chosen: () => void = () => undefined;
  const device: Authenticator = { stored: [], asked: [], signals: [], refusal: undefined, choose: () => chosen() };
  const begin = (asked: Asked): any => {
    device.asked.push(asked);
    const { refusal } = device;
    device.refusal = undefined;
    if (refusal) refuse(refusal);
    return asked.publicKey;
  };
  const clientData = (type: string, { challenge }: { challenge: Uint8Array }): Buffer =>
    Buffer.from(JSON.stringify({ type, challenge: Buffer.from(challenge).toString("base64url"), origin, crossOrigin: false }));

  const credentials = {
    async create(asked: Asked): Promise<unknown> {
      const publicKey = begin(asked);
      const { rp, user, excludeCredentials } = publicKey;
      const isKnown = (one: { id: Uint8Array }): boolean => device.stored.some(({ id }) => id.equals(one.id));
      if (excludeCredentials.some(isKnown)) refuse("InvalidStateError");
      const { privateKey, publicKey: shown } = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const id = randomBytes(16);
      device.stored.push({ id, rpId: rp.id, userHandle: Buffer.from(user.id), key: privateKey });
      const credential = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, coseOf(shown)]);
      const flags = asked.mediation ? BE | BS | AT : UP | UV | BE | BS | AT;
      const object = new Map<string, unknown>([["fmt", "none"], ["attStmt", new Map()], ["authData", authData(rp.id, flags, credential)]]);
      const response = {
        clientDataJSON: buffer(clientData("webauthn.create", publicKey)),
        attestationObject: buffer(cbor(object)),
        getTransports: () => ["internal"],
      };
      return { id: id.toString("base64url"), rawId: buffer(id), type: "public-key", response };
    },

    async get(asked: Asked): Promise<unknown> {
      const { rpId, allowCredentials, challenge } = begin(asked);
      const { signal, mediation } = asked;
      await new Promise<void>((resolve, reject) => {
        if (signal?.aborted) reject(signal.reason as Error);
        signal?.addEventListener("abort", () => reject(signal.reason as Error));
        if (mediation) chosen = resolve;
        else resolve();
      });
      const isMeant = ({ id, rpId: own }: Stored): boolean =>
        own === rpId && (!allowCredentials.length || allowCredentials.some((one: { id: Uint8Array }) => id.equals(one.id)));
      const passkey = device.stored.filter(isMeant).at(-1) ?? refuse("NotAllowedError");
      const [data, client] = [authData(rpId, UP | UV | BE | BS), clientData("webauthn.get", { challenge })];
      const response = {
        clientDataJSON: buffer(client),
        authenticatorData: buffer(data),
        signature: buffer(sign("sha256", Buffer.concat([data, sha256(client)]), passkey.key)),
        userHandle: buffer(passkey.userHandle),
      };
      return { id: passkey.id.toString("base64url"), rawId: buffer(passkey.id), type: "public-key", response };
    },
  };

  class Credential {
    static isConditionalMediationAvailable = async () => true;
    static getClientCapabilities = async () => ({ conditionalCreate: true });
  }
  for (const name of signals) Object.assign(Credential, { [name]: async (facts: object) => void device.signals.push([name, facts]) });
  vi.stubGlobal("PublicKeyCredential", Credential);
  vi.stubGlobal("navigator", { credentials, locks: fakeLocks() });
  return device;
}
