import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { compileConfig } from '../../node/config/nodeConfig.ts';
import { serveNode } from '../../node/serveNode.ts';
import { certificate, key } from '../actors/services/certificate.ts';
import { fakeAgent } from '../fakes/agent.ts';
import { fakeInspected, until } from '../inspect/support/served.ts';
import { NOW } from '../pod/views.ts';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'statelet-serve-'));
});

afterEach(() => rm(root, { recursive: true }));

test('a link with a token is in a file for its owner, and only its place is in the log', async () => {
  const tls = { certFile: join(root, 'cert.pem'), keyFile: join(root, 'key.pem') };
  await writeFile(tls.certFile, certificate);
  await writeFile(tls.keyFile, key);
  const config = {
    ...compileConfig({
      flags: {},
      defaults: { hostname: 'host', addresses: ['192.0.2.1'], rootDirectory: root, podLogsDirectory: root },
    }),
    inspect: { address: { host: '0.0.0.0', port: 0 }, tls },
  };
  let log = '';
  const write = (text: string) => {
    log += text;
  };
  const logger = pino({}, { write });
  const agent = fakeAgent({ now: NOW });
  const served = await serveNode(
    { agent, stop: async () => {}, inspected: async () => fakeInspected() },
    { config, logger },
  );
  const file = join(root, 'statelet', 'page-link');
  await until(() => log.includes(file));
  const link = (await readFile(file, 'utf8')).trim();
  expect(link).toMatch(/^https:\/\/192\.0\.2\.1:\d+\/\?token=[\w-]{32}$/);
  expect(log).toContain(`the page is at ${new URL(link).origin}/`);
  expect(log).not.toContain('token=');
  expect(log).not.toContain(new URL(link).searchParams.get('token'));
  await served.close();
});
