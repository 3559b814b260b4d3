// Starts an example: installs missing packages, builds the client, starts the service and the app, and stops both together.
// `node examples/start.mjs browser`; the others are server-rendered, nextjs and sveltekit.
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const SERVICE = "http://localhost:8700";
/** Packages of the examples. */
const EXAMPLES = {
  browser: "example-browser",
  "server-rendered": "example-server-rendered",
  nextjs: "example-nextjs",
  sveltekit: "example-sveltekit",
};
const root = fileURLToPath(new URL("..", import.meta.url));

const example = EXAMPLES[process.argv[2]];
if (!example) {
  console.error(`Usage: node examples/start.mjs ${Object.keys(EXAMPLES).join("|")}`);
  process.exit(2);
}

/** Runs a command to its end. */
function run(name, ...words) {
  const { status } = spawnSync(name, words, { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

const isUp = async () => (await fetch(`${SERVICE}/health/ready`).catch(() => null))?.ok ?? false;

const children = [];
function start(name, ...words) {
  const child = spawn(name, words, { cwd: root, stdio: "inherit" });
  children.push(child);
  child.on("exit", (code) => stop(code ?? 0));
}
function stop(code) {
  for (const child of children) child.kill();
  process.exit(code);
}
process.on("SIGINT", () => stop(0));
process.on("SIGTERM", () => stop(0));

if (!["vite", "next"].every((name) => existsSync(`${root}/node_modules/${name}`))) run("npm", "ci", "--no-audit", "--no-fund");
run("npm", "run", "build", "--silent", "--workspace", "@latchkey/client");
if (await isUp()) {
  console.log(`\nUsing the running service at ${SERVICE}.`);
} else {
  const trusted = 'server.trusted_proxies=["127.0.0.1", "::1"]';
  const settings = ["data.dir=examples/.data", "auth.require_email_verification=true", "auth.email_sign_in=code_and_link", trusted].flatMap((one) => ["--set", one]);
  const binary = process.env.LATCHKEY_BINARY;
  if (binary) start(binary, ...settings);
  else start("cargo", "run", "--package", "latchkey", "--", ...settings);
  while (!(await isUp())) await new Promise((resolve) => setTimeout(resolve, 200));
}
console.log(`\nMails are at ${SERVICE}/dev/mail.\n`);
start("npm", "run", "dev", "--workspace", example);
