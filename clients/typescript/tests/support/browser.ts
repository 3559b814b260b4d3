// `fetch` with a cookie jar, for clients of type `web` without a browser.

/** Cookie jar and sent requests. */
export interface Browser {
  fetch: typeof fetch;
  cookies: Map<string, string>;
  calls: string[];
}

/** Simulated browser with an app of `http://localhost:5173`. */
export function newBrowser(): Browser {
  const cookies = new Map<string, string>();
  const calls: string[] = [];
  return {
    cookies,
    calls,
    fetch: async (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set("origin", "http://localhost:5173");
      if (cookies.size) headers.set("cookie", [...cookies].map(([name, value]) => `${name}=${value}`).join("; "));
      calls.push(`${init?.method} ${new URL(String(input)).pathname}`);
      const answer = await fetch(input, { ...init, headers });
      for (const cookie of answer.headers.getSetCookie()) {
        const [name = "", value = ""] = (cookie.split(";")[0] ?? "").split("=");
        if (value) cookies.set(name, value);
        else cookies.delete(name);
      }
      return answer;
    },
  };
}
