// Drives an MCP server over stdio with the official TypeScript SDK and prints
// one JSON line for each step; the e2e test judges them. With a URL in the
// place of the command it does so over HTTP, with the token LISP_TOKEN.
//
//   node drive.mjs 2025-11-25|2026-07-28 COMMAND|URL [ARGUMENT…]
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
const [era, command, ...args] = process.argv.slice(2);
const say = (step, fields) => console.log(JSON.stringify({ step, ...fields }));
const info = { name: 'typescript-sdk', version: '1' };
const env = { ...process.env };
const url = /^https?:/.test(command) ? new URL(command) : undefined;
const http = { requestInit: { headers: { Authorization: `Bearer ${process.env.LISP_TOKEN}` } } };

async function handshake() {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
  const client = new Client(info);
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const transport = url ? new StreamableHTTPClientTransport(url, http)
    : new StdioClientTransport({ command, args, env, stderr: 'inherit' });
  let version; // told to the transport only
  const told = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (v) => { version = v; told?.(v); };
  await client.connect(transport);
  return { client, version,
    call: (params, options) => client.callTool(params, undefined, options) };
}

async function stateless() {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const client = new Client(info, { versionNegotiation: { mode: { pin: era } } });
  await client.connect(url ? new StreamableHTTPClientTransport(url, http)
    : new StdioClientTransport({ command, args, env, stderr: 'inherit' }));
  return { client, version: client.getNegotiatedProtocolVersion(),
    call: (params, options) => client.callTool(params, options) };
}

const { client, version, call } = era === '2026-07-28' ? await stateless() : await handshake();
const evaluate = (code, options, more) =>
  call({ name: 'evaluate-lisp', arguments: { code, ...more } }, options);
const result = (r) => ({ text: r.content.map((c) => c.text).join('\u0000'), blocks: r.content.length,
  isError: r.isError === true, structured: r.structuredContent !== undefined });

say('open', { version, server: client.getServerVersion()?.name });
const { tools } = await client.listTools();
say('tools', { names: tools.map((t) => t.name) });
say('define', result(await evaluate('(defvar *kept* 41)')));
say('evaluate', result(await evaluate('(+ 1 *kept*)')));
say('error', result(await evaluate('(/ 1 0)')));
say('hidden', result(await call({ name: 'list-threads', arguments: {} })));

// The code goes on when a first notification with its output, and a second one, have come. An
// image in a sandbox does not see the files that say so, and goes on after some seconds.
const gate = join(mkdtempSync(join(tmpdir(), 'gate-')), 'line-');
const seen = [];
const onprogress = (p) => {
  seen.push(p.message ?? '');
  if (!seen.join('').includes('line 0')) return;
  writeFileSync(`${gate}0`, '');
  if (seen.length > 1) writeFileSync(`${gate}1`, '');
};
const slow = await evaluate(`(dotimes (i 4) (format t "line ~D~%" i) (finish-output)
  (when (< i 2) (loop with end = (+ (get-universal-time) ${url ? 2 : 10})
                      until (or (probe-file (format nil "${gate}~D" i)) (> (get-universal-time) end)) do (sleep 0.01))))`,
  { onprogress });
say('progress', { ...result(slow), messages: seen });

const abort = new AbortController();
setTimeout(() => abort.abort('the user changed their mind'), 500);
let start = performance.now();
let error = '';
try {
  await evaluate('(sleep 100)', { signal: abort.signal });
} catch (e) {
  error = String(e?.message ?? e);
}
say('cancel', { error, ms: performance.now() - start });
start = performance.now();
say('after', { ...result(await evaluate('(list (+ 1 2) *kept*)')), ms: performance.now() - start });
await client.close();
