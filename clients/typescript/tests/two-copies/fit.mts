// Checked by the compiler alone, after the build: the two copies of the package's types are assignable to each other,
// and a fake is a client.
import type { LatchkeyClient as One } from "../../dist/index.js";
import type { LatchkeyClient as Other } from "../../dist/index.cjs";
import type { FakeClient } from "../../dist/testing.js";

type Own = { metadata: { plan: string } };

export const there = (client: One): Other => client;
export const back = (client: Other): One => client;
export const typed = (client: One<Own>): Other<Own> => client;
export const widened = (client: One<Own>): Other => client;
export const fake = (client: FakeClient<Own>): Other<Own> => client;
