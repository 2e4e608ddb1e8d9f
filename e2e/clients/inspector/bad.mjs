// A server with a tool whose schema strict clients refuse: the check that
// passes ours must fail this one.
import { createInterface } from 'node:readline'

const results = {
  initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'bad', version: '0' } },
  'tools/list': {
    tools: [{ name: 'bad', description: 'A tool.', inputSchema: { type: 'object', properties: { list: { type: ['null', 'array'] } } } }],
  },
}

createInterface({ input: process.stdin }).on('line', line => {
  const { id, method } = JSON.parse(line)
  if (id === undefined) return
  const reply = results[method]
    ? { jsonrpc: '2.0', id, result: results[method] }
    : { jsonrpc: '2.0', id, error: { code: -32601, message: `no method ${method}` } }
  process.stdout.write(JSON.stringify(reply) + '\n')
})
