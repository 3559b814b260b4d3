// A resolver on 127.0.0.1:53 that knows two names, and an HTTPS server on port 8443 with the certificate of one of them. For
// xtask/scripts/image.sh. Arguments: the files of key and certificate.
import { createSocket } from "node:dgram";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";

const [key, cert] = process.argv.slice(2).map((file) => readFileSync(file));
const NAMES = ["accounts.example.com", "other.example.com"];
const [A, IN] = [1, 1];

const resolver = createSocket("udp4");
resolver.on("message", (query, peer) => resolver.send(response(query), peer.port, peer.address));
resolver.bind(53, "127.0.0.1");
createServer({ key, cert }, (request, answer) => {
  answer.writeHead(request.url === "/health/ready" ? 200 : 404);
  answer.end();
}).listen(8443, "127.0.0.1");

/** Answers a question for an address (RFC 1035) with 127.0.0.1; other questions have no answer, other names do not exist. */
function response(query) {
  let [at, labels] = [12, []];
  while (query[at] > 0) {
    labels.push(query.subarray(at + 1, at + 1 + query[at]).toString());
    at += 1 + query[at];
  }
  const end = at + 5;
  const isKnown = NAMES.includes(labels.join(".").toLowerCase());
  const hasAnswer = isKnown && query.readUInt16BE(at + 1) === A;
  const head = Buffer.alloc(12);
  query.copy(head, 0, 0, 2);
  head.writeUInt16BE(isKnown ? 0x8180 : 0x8183, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(hasAnswer ? 1 : 0, 6);
  const answer = Buffer.from([0xc0, 12, 0, A, 0, IN, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1]);
  return Buffer.concat([head, query.subarray(12, end), hasAnswer ? answer : Buffer.alloc(0)]);
}
