// getProfile, setProfile and the profile API.
import { describe, expect, inject, test } from "vitest";
import { must, newUser, serverClient } from "./support/people.js";

const UNKNOWN = "0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";

describe("getProfile", () => {
  test("getProfile is flat, custom fields at the top", async () => {
    const client = serverClient(inject("open"));
    const { user } = await newUser(client);
    must(await client.auth.setProfile({ favourite_colour: "green" }));

    const { data, error } = await serverClient(inject("open")).auth.getProfile(user.id);

    expect(error).toBeNull();
    expect(data).toEqual({
      id: user.id,
      name: "Ada Lovelace",
      avatar_url: null,
      bio: null,
      favourite_colour: "green",
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
  });

  test("getProfile of an unknown user is USER_NOT_FOUND", async () => {
    const { error } = await serverClient(inject("open")).auth.getProfile(UNKNOWN);

    expect(error).toMatchObject({ statusCode: 404, error: "USER_NOT_FOUND" });
  });
});

describe("setProfile", () => {
  test.each(["bare", "as { profile }"])("setProfile merges, %s", async (form) => {
    const client = serverClient(inject("open"));
    const { user } = await newUser(client);
    must(await client.auth.setProfile({ first: 1, second: { deep: true } }));
    const changes = { name: "Ada King", first: null, avatar_url: "https://example.org/ada.png" };

    const data = must(await client.auth.setProfile(form === "bare" ? changes : { profile: changes }));

    expect(data).toMatchObject({ id: user.id, name: "Ada King", second: { deep: true } });
    expect(data).not.toHaveProperty("first");
    expect(data).not.toHaveProperty("profile");
  });

  test("setProfile changes the user of the session", async () => {
    const client = serverClient(inject("open"));
    await newUser(client);
    const heard: string[] = [];
    const stop = client.auth.onAuthStateChange((event, session) => heard.push(`${event} ${session?.user.profile.name}`));
    await expect.poll(() => heard).toHaveLength(1);

    must(await client.auth.setProfile({ name: "Ada King" }));
    stop();

    expect(heard).toEqual(["INITIAL_SESSION Ada Lovelace", "USER_UPDATED Ada King"]);
  });

  test("setProfile without a session is AUTH_UNAUTHORIZED", async () => {
    const { error } = await serverClient(inject("open")).auth.setProfile({ name: "Nobody" });

    expect(error).toMatchObject({ statusCode: 401, error: "AUTH_UNAUTHORIZED" });
  });
});

describe("profiles", () => {
  test("profiles.me is the whole record", async () => {
    const client = serverClient(inject("open"));
    const { user } = await newUser(client);

    const { data, error, etag } = await client.profiles.me();

    expect(error).toBeNull();
    expect(etag).toMatch(/^(W\/)?".+"$/);
    expect(data).toEqual({
      id: expect.any(String),
      auth_id: user.id,
      name: "Ada Lovelace",
      avatar_url: null,
      bio: null,
      metadata: {},
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
  });

  test("profiles.update changes what is given, on the version that is meant", async () => {
    const client = serverClient(inject("open"));
    await newUser(client);
    const { etag } = await client.profiles.me();

    const ifMatch = etag ?? "";
    const updated = await client.profiles.update({ bio: "Engines", metadata: { theme: "dark" } }, { ifMatch });
    const late = await client.profiles.update({ bio: "Late" }, { ifMatch });

    expect(updated.data).toMatchObject({ name: "Ada Lovelace", bio: "Engines", metadata: { theme: "dark" } });
    expect(late.error).toMatchObject({ statusCode: 412, error: "PRECONDITION_FAILED" });
  });

  test("profiles.update refuses an address that is none", async () => {
    const client = serverClient(inject("open"));
    await newUser(client);

    const { error } = await client.profiles.update({ avatar_url: "not an address" });

    expect(error).toMatchObject({ statusCode: 400, error: "VALIDATION_ERROR", nextActions: expect.any(String) });
  });

  test("profiles.search returns { profiles, total, page, pageSize }", async () => {
    const word = `engine${process.pid}`;
    for (const name of ["First", "Second", "Third"]) {
      const client = serverClient(inject("open"));
      await newUser(client, name);
      must(await client.profiles.update({ bio: `About the ${word}` }));
    }
    const client = serverClient(inject("open"));

    const page = must(await client.profiles.search({ q: word, limit: 2, offset: 2 }));

    expect(page).toMatchObject({ total: 3, page: 2, pageSize: 2 });
    expect(page.profiles.map((profile) => profile.name)).toEqual(["First"]);
    expect(page.profiles[0]).not.toHaveProperty("metadata");
    expect(must(await client.profiles.search(word))).toMatchObject({ total: 3, page: 1, pageSize: 20 });
  });

  test("profiles.search without a text is MISSING_QUERY", async () => {
    const { error } = await serverClient(inject("open")).profiles.search("");

    expect(error).toMatchObject({ statusCode: 400, error: "MISSING_QUERY" });
  });

  test("profiles.get is the public profile by the id of the user", async () => {
    const { user } = await newUser(serverClient(inject("open")));

    const { data, error } = await serverClient(inject("open")).profiles.get(user.id);

    expect(error).toBeNull();
    expect(data).toEqual({
      id: expect.any(String),
      auth_id: user.id,
      name: "Ada Lovelace",
      avatar_url: null,
      bio: null,
      created_at: expect.any(String),
    });
  });

  test("profiles.get of an unknown user is USER_NOT_FOUND", async () => {
    const { error } = await serverClient(inject("open")).profiles.get(UNKNOWN);

    expect(error).toMatchObject({ statusCode: 404, error: "USER_NOT_FOUND" });
  });
});
