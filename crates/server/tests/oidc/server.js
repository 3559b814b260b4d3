// OpenID provider for tests; runs until its standard input closes: `node server.js PORT CALLBACK [NOW]`.
//
// PORT 0 is any free port. CALLBACK is the redirect URI of its only client, `latchkey` with the secret below. NOW is the initial
// time of its clock in milliseconds; default is the system time. First writes one line of JSON: `{"issuer": …}`.
//
// Its pages are plain forms. The first one has the field `login`:
//   ada              ada@example.org, verified, named "Ada of the provider", with a picture
//   unverified-ada   the same with unverified-ada@example.org, not verified
// The second one has the button `answer` with `allow` or `deny`.
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";

const CLIENT_ID = "latchkey";
const CLIENT_SECRET = "secret-of-the-client-at-the-provider-of-the-tests";

const [port, callback, now] = process.argv.slice(2);
// Tokens use the time of the test's clock.
const systemNow = Date.now;
const ahead = now ? Number(now) - systemNow() : 0;
Date.now = () => systemNow() + ahead;
// Development warnings go to standard error.
console.info = console.warn = console.log = (...words) => console.error(...words);
const { default: Provider } = await import("oidc-provider");

const privateJwk = (type, options, rest) => ({
  ...generateKeyPairSync(type, options).privateKey.export({ format: "jwk" }),
  ...rest,
});

const account = (login) => ({
  accountId: login,
  claims: () => ({
    sub: login,
    email: `${login}@example.org`,
    email_verified: !login.startsWith("unverified-"),
    name: `${login[0].toUpperCase()}${login.slice(1)} of the provider`,
    picture: `https://pictures.example.org/${login}.png`,
  }),
});

const configuration = {
  clients: [{ client_id: CLIENT_ID, client_secret: CLIENT_SECRET, redirect_uris: [callback] }],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "picture"] },
  cookies: { keys: [randomBytes(32).toString("hex")] },
  features: { devInteractions: { enabled: false } },
  findAccount: (_, login) => account(login),
  interactions: { url: (_, { uid }) => `/interaction/${uid}` },
  jwks: {
    keys: [
      privateJwk("rsa", { modulusLength: 2048 }, { kid: "rsa", alg: "RS256", use: "sig" }),
      privateJwk("ec", { namedCurve: "P-256" }, { kid: "ec", alg: "ES256", use: "sig" }),
    ],
  },
  pkce: { required: () => true },
  ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600, AuthorizationCode: 60 },
};

const form = (title, fields) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title>
<h1>${title}</h1><form method="post">${fields}</form></html>`;
const PAGES = {
  login: form("Who are you?", '<label>Login <input name="login"></label> <button>Go on</button>'),
  consent: form(
    "May Latchkey know you?",
    '<button name="answer" value="allow">Allow</button> <button name="answer" value="deny">Deny</button>',
  ),
};

/** What the visitor allowed, as a grant of the provider. */
async function grantOf(provider, { grantId, session, params, prompt }) {
  const grant = grantId
    ? await provider.Grant.find(grantId)
    : new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  grant.addOIDCScope((prompt.details.missingOIDCScope ?? []).join(" "));
  grant.addOIDCClaims(prompt.details.missingOIDCClaims ?? []);
  return grant.save();
}

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return new URLSearchParams(Buffer.concat(chunks).toString());
}

async function interact(provider, request, response) {
  const details = await provider.interactionDetails(request, response);
  if (request.method !== "POST") {
    return response.setHeader("content-type", "text/html; charset=utf-8").end(PAGES[details.prompt.name]);
  }
  const body = await bodyOf(request);
  const finish = (result) =>
    provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
  if (details.prompt.name === "login") return finish({ login: { accountId: body.get("login") } });
  if (body.get("answer") === "allow") {
    return finish({ consent: { grantId: await grantOf(provider, details) } });
  }
  return finish({ error: "access_denied", error_description: "The visitor said no." });
}

const server = createServer();
server.listen(Number(port), "127.0.0.1");
await once(server, "listening");
const issuer = `http://127.0.0.1:${server.address().port}`;
const provider = new Provider(issuer, configuration);
const answer = provider.callback();
server.on("request", (request, response) => {
  if (!request.url.startsWith("/interaction/")) return answer(request, response);
  return interact(provider, request, response).catch((error) => {
    console.error(error);
    response.writeHead(500).end();
  });
});
process.stdout.write(`${JSON.stringify({ issuer })}\n`);

process.stdin.resume();
await once(process.stdin, "end");
process.exit(0);
