// `client.profiles`: the profile API of spec 4.1.
import type { OwnProfile, Profiles } from "./contract.js";
import { failure, type Result, success, unexpected } from "./errors.js";
import type { Sessions } from "./sessions.js";
import type { Transport } from "./transport.js";
import type { ProfileRecord, PublicProfile } from "./types.js";

const OWN = "/api/profiles/me";

/** Profile operations of one client. */
export const createProfiles = (transport: Transport, sessions: Sessions): Profiles => ({
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
    if (answer.error) return failure(answer.error);
    if (!Array.isArray(answer.data)) return failure(unexpected(200));
    // A header dropped by a proxy is unknown, not 0.
    const count = (name: string): number => Number(answer.headers.get(`x-${name}`) ?? Number.NaN);
    return success({
      profiles: answer.data,
      total: count("total-count"),
      page: count("page"),
      pageSize: count("page-size"),
    });
  },

  async get(userId) {
    const path = `/api/profiles/${encodeURIComponent(userId)}`;
    const { data, error } = await transport.send<PublicProfile>({ method: "GET", path });
    return error ? failure(error) : success(data);
  },
});

function withTag({ data, error, headers }: Result<ProfileRecord> & { headers: Headers }): OwnProfile {
  return error ? { ...failure(error), etag: null } : { ...success(data), etag: headers.get("etag") };
}
