/**
 * Serves the files of a directory over HTTPS, for comparison with the node's API. The arguments are the directory, the
 * certificate and the key. Files below `/stored/` are read once and served from memory.
 */
import { createReadStream, readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

const [, , directory = '', cert = '', key = ''] = process.argv;
const stored = new Map<string, Buffer>();

const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, ({ url = '' }, response) => {
  const file = join(directory, url);
  if (!url.startsWith('/stored/')) return void pipeline(createReadStream(file), response).catch(() => {});
  const bytes = stored.get(url) ?? readFileSync(file);
  stored.set(url, bytes);
  response.end(bytes);
});
// The server listens on an IP address, so the address is an object.
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
