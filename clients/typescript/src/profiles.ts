// `client.profiles`: the profile HTTP interface of spec 4.1.
import { failure, type Result, success, unexpected } from "./errors.js";
import type { Sessions } from "./sessions.js";
import type { Transport } from "./transport.js";
import type { ProfileRecord, ProfileUpdate, PublicProfile } from "./types.js";

/** What a search takes. */
export interface SearchInput {
  /** The text that is searched for in names, usernames and bios. */
  q: string;
  /** 1 to 100; the service takes 20 where it is left out. */
  limit?: number;
  /** How many matches are skipped. */
  offset?: number;
}

/** A page of matches. */
export interface SearchPage {
  profiles: PublicProfile[];
  /** How many match in all; like the two below `NaN` where a proxy dropped the header. */
  total: number;
  /** The number of this page, from 1. */
  page: number;
  /** The limit that was used. */
  pageSize: number;
}

/** One's own profile, with the version that `update` takes as `ifMatch`. */
export type OwnProfile = Result<ProfileRecord> & { etag: string | null };

/** The profile calls. */
export class Profiles {
  constructor(
    private readonly transport: Transport,
    private readonly sessions: Sessions,
  ) {}

  /** The profile of the user, whole. */
  async me(): Promise<OwnProfile> {
    return withTag(await this.sessions.send<ProfileRecord>({ method: "GET", path: "/api/profiles/me" }));
  }

  /** Changes the keys that are given; with `ifMatch` only if nobody changed the profile since. */
  async update(changes: ProfileUpdate, { ifMatch }: { ifMatch?: string } = {}): Promise<OwnProfile> {
    const answer = await this.sessions.send<ProfileRecord>({
      method: "PATCH",
      path: "/api/profiles/me",
      body: changes,
      ...(ifMatch && { headers: { "if-match": ifMatch } }),
    });
    if (answer.data) this.sessions.store.updateProfile(answer.data.auth_id, answer.data);
    return withTag(answer);
  }

  /** Searches profiles; the text alone does too. */
  async search(input: SearchInput | string, more?: Omit<SearchInput, "q">): Promise<Result<SearchPage>> {
    const { q, limit, offset } = typeof input === "string" ? { ...more, q: input } : input;
    const query = { q, limit, offset };
    const answer = await this.transport.send<PublicProfile[]>({ method: "GET", path: "/api/profiles/search", query });
    if (answer.error) return failure(answer.error);
    if (!Array.isArray(answer.data)) return failure(unexpected(200));
    // Where a proxy dropped a header it is not known, which is not 0.
    const count = (name: string): number => Number(answer.headers.get(name) ?? Number.NaN);
    return success({
      profiles: answer.data,
      total: count("x-total-count"),
      page: count("x-page"),
      pageSize: count("x-page-size"),
    });
  }

  /** The public profile of a user, by the id of the user (`auth_id`). */
  async get(userId: string): Promise<Result<PublicProfile>> {
    const path = `/api/profiles/${encodeURIComponent(userId)}`;
    const { data, error } = await this.transport.send<PublicProfile>({ method: "GET", path });
    return error ? failure(error) : success(data);
  }
}

function withTag({ data, error, headers }: Result<ProfileRecord> & { headers: Headers }): OwnProfile {
  return error ? { ...failure(error), etag: null } : { ...success(data), etag: headers.get("etag") };
}
