// The real binary on a free port, with its data in a temporary folder.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Admin key of every service under test. */
export const ADMIN_KEY = "an admin key for tests and nothing else".replaceAll(" ", "-");

/** Running service. */
export interface Service {
  url: string;
  stop(): Promise<void>;
}

/** Default test settings: fast and without limits. A test's own settings override them. */
const FOR_TESTS = {
  "log.level": "warn",
  "limits.enabled": "false",
  "passwords.memory_kib": "1024",
  "passwords.iterations": "1",
};

/** Path of the binary under test. */
export function binary(): string {
  const given = process.env.LATCHKEY_BINARY;
  const built = fileURLToPath(new URL("../../../../target/debug/latchkey", import.meta.url));
  const path = given ?? built;
  if (!existsSync(path)) throw new Error(`${path} is missing: run cargo build -p latchkey first`);
  return path;
}

/** Finds a free port. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

/** Starts the binary and waits until it is ready. */
export async function startService(settings: Record<string, string> = {}): Promise<Service> {
  const folder = await mkdtemp(join(tmpdir(), "latchkey-client-"));
  const port = await freePort();
  const all = { "server.bind": `127.0.0.1:${port}`, "data.dir": join(folder, "data"), ...FOR_TESTS, ...settings };
  const set = Object.entries(all).flatMap(([key, value]) => ["--set", `${key}=${value}`]);
  const environment = { ...process.env, LATCHKEY__ADMIN__API_KEY: ADMIN_KEY };
  const child = spawn(binary(), set, { cwd: folder, env: environment, stdio: ["ignore", "ignore", "pipe"] });
  let complaints = "";
  child.stderr.on("data", (text) => (complaints += text));
  const url = `http://localhost:${port}`;
  await ready(url, child, () => complaints);
  return {
    url,
    stop: async () => {
      child.kill();
      if (child.exitCode === null) await once(child, "exit");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function ready(url: string, child: ChildProcess, complaints: () => string): Promise<void> {
  for (const deadline = Date.now() + 20_000; Date.now() < deadline; ) {
    if (child.exitCode !== null) throw new Error(`the service did not start:\n${complaints()}`);
    const answer = await fetch(`${url}/health/ready`).catch(() => null);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  child.kill();
  throw new Error(`the service was not ready in time:\n${complaints()}`);
}
