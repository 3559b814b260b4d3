// `client.profiles`: the profile API of spec 4.1. Part of account.ts, so that both are loaded by one request.
import type { OwnProfile, Profiles } from "./contract.js";
import type { Result, unexpected } from "./errors.js";
import type { Sessions } from "./sessions.js";
import type { Transport } from "./transport.js";
import type { ProfileRecord, PublicProfile } from "./types.js";

const OWN = "/api/profiles/me";

/** Parts of a client, and a function of the core, that the operations use. */
interface ProfileParts {
  transport: Transport;
  sessions: Sessions;
  unexpected: typeof unexpected;
}

/** Profile operations of one client. */
export const createProfiles = ({ transport, sessions, unexpected }: ProfileParts): Profiles => ({
  me: async () => withTag(await sessions.send<ProfileRecord>({ method: "GET", path: OWN })),

  async update(changes, { ifMatch } = {}) {
    const headers = { ...(ifMatch && { "if-match": ifMatch }) };
    const answer = await sessions.send<ProfileRecord>({ method: "PATCH", path: OWN, body: changes, headers });
    if (answer.data) sessions.store.updateProfile(answer.data.auth_id, answer.data);
    return withTag(answer);
  },

  async search(input, more) {
    const { q, limit, offset } = typeof input === "string" ? { ...more, q: input } : input;
    const query = { q, limit, offset };
    const answer = await transport.send<PublicProfile[]>({ method: "GET", path: "/api/profiles/search", query });
    if (answer.error) return { data: null, error: answer.error };
    if (!Array.isArray(answer.data)) return { data: null, error: unexpected(200) };
    // A header dropped by a proxy is unknown, not 0.
    const count = (name: string): number => Number(answer.headers.get(`x-${name}`) ?? Number.NaN);
    const [total, page, pageSize] = [count("total-count"), count("page"), count("page-size")];
    return { data: { profiles: answer.data, total, page, pageSize }, error: null };
  },

  async get(userId) {
    const path = `/api/profiles/${encodeURIComponent(userId)}`;
    const { data, error } = await transport.send<PublicProfile>({ method: "GET", path });
    return error ? { data: null, error } : { data, error };
  },
});

function withTag({ data, error, headers }: Result<ProfileRecord> & { headers: Headers }): OwnProfile {
  return error ? { data: null, error, etag: null } : { data, error, etag: headers.get("etag") };
}
