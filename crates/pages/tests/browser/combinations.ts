// What the tests run on: an engine of the service, and a browser with script or without.
import { startPostgres } from "../../../../clients/typescript/tests/support/postgres.js";

export type Engine = "SQLite" | "PostgreSQL";

/** Name of a combination, its engine, and if the browser runs scripts. */
type Combination = [name: string, engine: Engine, javaScriptEnabled: boolean];

/** Each engine once and each kind of browser once: for pages that do not care which two come together. */
export const CROSSED: Combination[] = [
  ["with script on SQLite", "SQLite", true],
  ["without script on PostgreSQL", "PostgreSQL", false],
];

/** All there are. */
export const ALL: Combination[] = [
  ...CROSSED,
  ["without script on SQLite", "SQLite", false],
  ["with script on PostgreSQL", "PostgreSQL", true],
];

/** Where services store their data. */
export interface Storage {
  /** Settings of a further service, which shares nothing with the others. */
  settings(): Record<string, string>;
  stop(): Promise<void>;
}

/** Starts the engine. That of SQLite is in the service, which has a data folder of its own. */
export async function startStorage(engine: Engine): Promise<Storage> {
  if (engine === "SQLite") return { settings: () => ({}), stop: async () => undefined };
  const postgres = await startPostgres();
  return { settings: () => ({ "storage.url": postgres.database() }), stop: postgres.stop };
}
