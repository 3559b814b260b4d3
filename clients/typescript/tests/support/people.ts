// New users, and the mails that they get.
import { randomBytes } from "node:crypto";
import { type Challenged, createClient, type ClientOptions, type LatchkeyClient, type SignedIn } from "../../src/index.js";

/** Password accepted by every service under test. */
export const PASSWORD = "correct horse battery";

let count = 0;

/** Unique part of the addresses of this test file. */
const FILE = randomBytes(3).toString("hex");

/** Unused email address. */
export const newEmail = (): string => `ada-${FILE}-${count++}@example.org`;

/** Client in server mode. */
export const serverClient = (baseUrl: string, more: Partial<ClientOptions> = {}): LatchkeyClient =>
  createClient({ baseUrl, isServerMode: true, ...more });

/** Type of the data without the challenge that a sign-in may have instead of the session. */
type Opened<T> = [Exclude<T, Challenged>] extends [never] ? T : Exclude<T, Challenged>;

/** Data of a successful result; throws its error. */
export function must<T>(result: { data: T | null; error: unknown }): Opened<T> {
  if (result.error) throw result.error;
  return result.data as Opened<T>;
}

/** New user of a service without verification. */
export async function newUser(client: LatchkeyClient, name = "Ada Lovelace"): Promise<SignedIn & { email: string }> {
  const email = newEmail();
  const data = must(await client.auth.signUp({ email, password: PASSWORD, name }));
  if (!data.accessToken) throw new Error("verification is required here");
  return { ...data, email };
}

/** JSON of the inbox of development. */
async function inbox<T>(baseUrl: string, path = ""): Promise<T> {
  const answer = await fetch(`${baseUrl}/dev/mail${path}`, { headers: { accept: "application/json" } });
  return (await answer.json()) as T;
}

/** Text of the newest mail to an address, once there are `nth`. */
export async function mailTo(baseUrl: string, email: string, nth = 1): Promise<string> {
  for (const deadline = Date.now() + 10_000; Date.now() < deadline; ) {
    const { mails } = await inbox<{ mails: { id: string; to: string }[] }>(baseUrl);
    const [newest, ...older] = mails.filter(({ to }) => to === email);
    if (newest && older.length + 1 >= nth) return (await inbox<{ text: string }>(baseUrl, `/${newest.id}`)).text;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`no mail number ${nth} came for ${email}`);
}

/** Six-digit code of a mail. */
export const codeIn = (mail: string): string => /^ +(\d{6})$/m.exec(mail)?.[1] ?? "";

/** Link of a mail. */
export const linkIn = (mail: string): string => /https?:\S+\/api\/auth\/email\/\S+/.exec(mail)?.[0] ?? "";

/** Redirect target of a link. */
export async function opened(link: string): Promise<URL> {
  const answer = await fetch(link, { redirect: "manual" });
  return new URL(answer.headers.get("location") ?? "no:redirect");
}
