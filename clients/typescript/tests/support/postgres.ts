// A PostgreSQL server of its own, on a Unix socket in a temporary folder, for tests of the binary on this engine.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";

/** Where Debian installs the programs, a folder per version. */
const PROGRAMS = "/usr/lib/postgresql";
/** Folder of the socket: the path of a socket is short. */
const SHORT = "/tmp";

/** Running server. */
export interface Postgres {
  /** Makes an empty database; returns its URL. */
  database(): string;
  stop(): Promise<void>;
}

/** Starts a server. PostgreSQL refuses to run as root, which then starts it as `postgres`. */
export async function startPostgres(): Promise<Postgres> {
  const [version] = existsSync(PROGRAMS) ? readdirSync(PROGRAMS).sort((a, b) => Number(b) - Number(a)) : [];
  if (!version) throw new Error("PostgreSQL is missing: run `cargo xtask prepare`");
  const isRoot = process.getuid?.() === 0;
  const run = (program: string, ...words: string[]): void => {
    const path = join(PROGRAMS, version, "bin", program);
    const line = isRoot ? ["runuser", "-u", "postgres", "--", path, ...words] : [path, ...words];
    execFileSync(line[0] as string, line.slice(1), { cwd: "/", stdio: ["ignore", "ignore", "inherit"] });
  };
  const folder = await mkdtemp(join(SHORT, "latchkey-pg-"));
  await chmod(folder, 0o777);
  const data = join(folder, "data");
  run("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync");
  const options = `-c listen_addresses= -c unix_socket_directories=${folder} -c fsync=off`;
  run("pg_ctl", "-D", data, "-l", join(folder, "log"), "-w", "-o", options, "start");
  let count = 0;
  return {
    database: () => {
      const name = `test${++count}`;
      run("createdb", "-h", folder, "-U", "postgres", name);
      return `postgres:///${name}?host=${folder}&user=postgres`;
    },
    stop: async () => {
      run("pg_ctl", "-D", data, "-m", "immediate", "stop");
      await rm(folder, { recursive: true, force: true });
    },
  };
}
