import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { compileConfig } from '../../../node/config/nodeConfig.ts';
import { serveNode } from '../../../node/serve/serveNode.ts';
import { certificate, key } from '../../actors/services/certificate.ts';
import { fakeAgent } from '../../fakes/agent.ts';
import { fakeInspected, until } from '../../inspect/support/served.ts';
import { NOW } from '../../kubernetes/views.ts';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'statelet-serve-'));
});

afterEach(() => rm(root, { recursive: true }));

test('a link with a token is written to a file for its owner, and the log contains only the path', async () => {
  const tls = { certFile: join(root, 'cert.pem'), keyFile: join(root, 'key.pem') };
  await writeFile(tls.certFile, certificate);
  await writeFile(tls.keyFile, key);
  const config = {
    ...compileConfig({
      flags: {},
      defaults: { hostname: 'host', addresses: ['192.0.2.1'], rootDirectory: root, podLogsDirectory: root },
    }),
    inspect: { address: { host: '0.0.0.0', port: 0 }, isOpen: false, tls },
  };
  let log = '';
  const write = (text: string) => {
    log += text;
  };
  const logger = pino({}, { write });
  const agent = fakeAgent({ now: NOW });
  const served = await serveNode(
    { agent, stop: async () => {}, createInspected: async () => fakeInspected() },
    { config, logger },
  );
  const file = join(root, 'statelet', 'page-link');
  await until(() => log.includes(file));
  const link = (await readFile(file, 'utf8')).trim();
  expect(link).toMatch(/^https:\/\/192\.0\.2\.1:\d+\/\?token=[\w-]{32}$/);
  expect(log).toContain(`the page is at ${new URL(link).origin}/`);
  expect(log).not.toContain('token=');
  expect(log).not.toContain(new URL(link).searchParams.get('token'));
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  await served.close();
});

test('a link that the caller prints is written to the file as well', async () => {
  const config = compileConfig({
    flags: { '--inspect-address': '127.0.0.1:0' },
    defaults: { hostname: 'host', addresses: ['192.0.2.1'], rootDirectory: root, podLogsDirectory: root },
  });
  const printed: string[] = [];
  const served = await serveNode(
    { agent: fakeAgent({ now: NOW }), stop: async () => {}, createInspected: async () => fakeInspected() },
    { config, logger: pino({ level: 'silent' }), onPage: (url) => printed.push(url) },
  );
  const file = join(root, 'statelet', 'page-link');
  await until(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'));
  await served.close();
  expect(printed).toEqual([(await readFile(file, 'utf8')).trim()]);
  expect(printed[0]).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{32}$/);
});

test('a link that cannot be written, e.g. on a full disk, is written as soon as possible', async () => {
  const config = compileConfig({
    flags: { '--inspect-address': '127.0.0.1:0' },
    defaults: { hostname: 'host', addresses: ['192.0.2.1'], rootDirectory: root, podLogsDirectory: root },
  });
  const clock = new SimulatedClock();
  let log = '';
  const write = (text: string) => {
    log += text;
  };
  const obstacle = join(root, 'statelet');
  await writeFile(obstacle, '');
  const served = await serveNode(
    { agent: fakeAgent({ now: NOW }), stop: async () => {}, createInspected: async () => fakeInspected() },
    { config, logger: pino({}, { write }), clock },
  );
  await until(() => log.includes('the link to the page cannot be written to'));
  expect(log).toContain('page-link, retrying every 5 s: EEXIST');
  await rm(obstacle);
  await clock.advance(5_000);
  await until(() => log.includes('the link to the page is in'));
  expect(await readFile(join(obstacle, 'page-link'), 'utf8')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=/);
  await served.close();
});
