// Starts the server of an unpacked bundle as a desktop does, by the bundle's own tools,
// and asks it to initialize: node bundle.mjs DIRECTORY VERSION
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { getMcpConfigForManifest } from "@anthropic-ai/mcpb";

const [directory, version] = process.argv.slice(2);
const manifest = JSON.parse(readFileSync(`${directory}/manifest.json`, "utf8"));
const logger = { log: console.error, warn: console.error, error: console.error };

function fail(text) {
  console.error(text);
  process.exit(1);
}

async function ask(userConfig, tools) {
  const config = await getMcpConfigForManifest({
    manifest, extensionPath: directory, systemDirs: { HOME: process.env.HOME }, userConfig, pathSeparator: "/", logger,
  });
  const text = JSON.stringify(config);
  if (!config || text.includes("${")) fail(`not all of it is known: ${text}`);
  const server = spawn(config.command, config.args, { env: { HOME: process.env.HOME, PATH: process.env.PATH, ...config.env }, stdio: ["pipe", "pipe", "inherit"] });
  const send = (message) => server.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
  const about = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bundle", version: "1" } };
  send({ id: 1, method: "initialize", params: about });
  send({ method: "notifications/initialized" });
  send({ id: 2, method: "tools/list" });
  const late = setTimeout(() => fail("no answer in 20 s"), 20000);
  let read = "";
  for await (const chunk of server.stdout) {
    read += chunk;
    if (read.includes('"id":2')) break;
  }
  clearTimeout(late);
  server.stdin.end();
  const answers = read.trim().split("\n").map((line) => JSON.parse(line));
  const is = answers.find((a) => a.id === 1).result.serverInfo;
  if (is.version !== `v${version}`) fail(`the server is ${JSON.stringify(is)}, the bundle ${version}`);
  const names = answers.find((a) => a.id === 2).result.tools.map((t) => t.name);
  if (names.includes("evaluate-lisp") !== tools) fail(`of the tools are there: ${names}`);
}

await ask({}, true);
await ask({ project: directory, read_only: true }, false);
