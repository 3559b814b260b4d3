// A service with an owner of its console.
import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { codeIn, mailTo, must, newEmail, PASSWORD, serverClient } from "../../../../clients/typescript/tests/support/people.js";
import { ADMIN_KEY, binary, type Service, startService } from "../../../../clients/typescript/tests/support/service.js";
import { type Engine, startStorage } from "./combinations.js";
import { send, shown } from "./person.js";

/** Running service with its data. */
export interface Staffed extends Service {
  /** Makes an account; one that is not verified signs in by mail at most. */
  newAccount(isVerified: boolean, name?: string): Promise<string>;
  /** Makes an owner by command, who activates the role by its link and is signed in then. Returns the address. */
  becomeOwner(page: Page): Promise<string>;
}

/** Starts the service, with verification of addresses. */
export async function startStaffed(engine: Engine, more: Record<string, string> = {}): Promise<Staffed> {
  const [folder, storage] = await Promise.all([mkdtemp(join(tmpdir(), "latchkey-console-")), startStorage(engine)]);
  const stored = { "data.dir": folder, ...storage.settings() };
  const service = await startService({ ...stored, "auth.require_email_verification": "true", ...more });
  const settings = Object.entries({ ...stored, "server.public_url": service.url }).flatMap(([key, value]) => ["--set", `${key}=${value}`]);
  const staffed: Staffed = {
    url: service.url,
    async newAccount(isVerified, name = "Grace Hopper") {
      const { auth } = serverClient(service.url);
      const email = newEmail();
      must(await auth.signUp({ email, password: PASSWORD, name }));
      const otp = codeIn(await mailTo(service.url, email));
      if (isVerified) must(await auth.verifyEmail({ email, otp }));
      return email;
    },
    async becomeOwner(page) {
      const email = await staffed.newAccount(true, "Ada Lovelace");
      const words = ["operator", "grant", email, "--role", "owner", ...settings];
      const told = execFileSync(binary(), words, { cwd: folder, encoding: "utf8" });
      await page.goto(/^https?:\S+$/m.exec(told)?.[0] ?? `no link in ${told}`);
      await shown(page, "Activate your grant");
      await send(page, { "Email address": email, Password: PASSWORD }, "Activate");
      await shown(page, "Overview");
      return email;
    },
    async stop() {
      await service.stop();
      await Promise.all([storage.stop(), rm(folder, { recursive: true, force: true })]);
    },
  };
  return staffed;
}

/** Calls a service with the admin key. */
export async function asAdmin({ url }: Service, method: string, path: string, body: unknown): Promise<void> {
  const headers = { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" };
  const answer = await fetch(url + path, { method, headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
}
