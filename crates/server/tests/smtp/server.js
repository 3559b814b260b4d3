// Mail server for tests; runs until its standard input closes. `node server.js PORT` (0: any free port).
//
// Writes lines of JSON: first `{"port": …}`, then for each offered mail `{"code", "from", "to", "data"}`, before it replies.
// `code` is the reply: 250 if the mail was accepted. The recipient determines it:
//   grey-…   451 at RCPT TO the first time
//   full-…   452 after the content the first time
//   never-…  550 at RCPT TO, always
//   spam-…   554 after the content, always
import { once } from "node:events";
import { SMTPServer } from "smtp-server";

const FIRST_TIME = { grey: 451, full: 452 };
const ALWAYS = { never: 550, spam: 554 };
const AT_RECIPIENT = [451, 550];

const refused = new Set();
const tell = (fact) => process.stdout.write(`${JSON.stringify(fact)}\n`);

/** The code for a recipient; 250 where nothing is against it. */
function verdict(address) {
  const kind = address.split("-")[0];
  if (kind in ALWAYS) return ALWAYS[kind];
  if (!(kind in FIRST_TIME) || refused.has(address)) return 250;
  refused.add(address);
  return FIRST_TIME[kind];
}

function refusal(code) {
  return Object.assign(new Error("not now, or never"), { responseCode: code });
}

const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ["AUTH", "STARTTLS"],
  onRcptTo({ address }, session, answer) {
    session.code = verdict(address);
    if (!AT_RECIPIENT.includes(session.code)) return answer();
    tell({ code: session.code, from: session.envelope.mailFrom.address, to: address, data: "" });
    return answer(refusal(session.code));
  },
  onData(stream, session, answer) {
    const chunks = [];
    stream.on("data", (chunk) => chunks.push(chunk));
    stream.on("end", () => {
      const { mailFrom, rcptTo } = session.envelope;
      const to = rcptTo.map(({ address }) => address).join(",");
      tell({ code: session.code, from: mailFrom.address, to, data: Buffer.concat(chunks).toString("latin1") });
      answer(session.code === 250 ? null : refusal(session.code));
    });
  },
});

server.on("error", (error) => {
  process.stderr.write(`${error}\n`);
  if (error.code === "EADDRINUSE") process.exit(1);
});
server.listen(Number(process.argv[2]), "127.0.0.1");
await once(server.server, "listening");
tell({ port: server.server.address().port });

process.stdin.resume();
await once(process.stdin, "end");
process.exit(0);
