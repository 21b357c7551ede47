import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findProcess } from '../../../host/runningProcess.ts';
import type { ExecPluginCall } from '../../../kubelet-api/metrics/requests/credentialMetrics.ts';
import type { ExecFields } from '../../../node/config/files/execFields.ts';
import { runExecPlugin } from '../../../node/credentials/runExecPlugin.ts';
import { eventually } from '../../e2e/support/eventually.ts';

const V1 = 'client.authentication.k8s.io/v1';
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'exec-'));
});
afterAll(() => rm(folder, { recursive: true }));

let count = 0;
/** Writes a shell script as an executable program. */
async function program(script: string): Promise<string> {
  count += 1;
  const path = join(folder, `program-${count}`);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}
const ask = async (script: string, more: Partial<ExecFields> = {}, timeoutMs?: number) =>
  runExecPlugin({
    exec: { apiVersion: V1, command: await program(script), interactiveMode: 'Never', ...more },
    cluster: { server: 'https://192.0.2.1', 'certificate-authority-data': 'PEM', 'tls-server-name': 'api' },
    errorPrefix: 'users: "u": exec',
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
const answer = (status: object, apiVersion = V1) =>
  `echo '${JSON.stringify({ apiVersion, kind: 'ExecCredential', status })}'`;

test('a plugin returns a token or a certificate with its key, and their expiry', async () => {
  expect(await ask(answer({ token: 'secret', expirationTimestamp: '2026-01-01T00:00:00Z' }))).toEqual({
    token: 'secret',
    certificatePair: undefined,
    expiresAt: Date.UTC(2026, 0, 1),
  });
  expect(await ask(answer({ clientCertificateData: 'cert', clientKeyData: 'key' }))).toEqual({
    token: undefined,
    certificatePair: { cert: 'cert', key: 'key' },
    expiresAt: undefined,
  });
  const old = 'client.authentication.k8s.io/v1beta1';
  expect(await ask(answer({ token: 'a' }, old), { apiVersion: old })).toMatchObject({ token: 'a' });
});

test('a plugin has its arguments, its environment in addition to that of the agent, and the cluster on request', async () => {
  const out = join(folder, 'told');
  const script = `{ echo "$1|$2|$OWN|$HOME"; echo "$KUBERNETES_EXEC_INFO"; } > ${out}; ${answer({ token: 'a' })}`;
  const env = [{ name: 'OWN', value: 'x y' }];
  await ask(script, { args: ['one two', '$HOME'], env });
  const [words, info = ''] = (await readFile(out, 'utf8')).split('\n');
  expect(words).toBe(`one two|$HOME|x y|${process.env.HOME ?? ''}`);
  expect(JSON.parse(info)).toEqual({ apiVersion: V1, kind: 'ExecCredential', spec: { interactive: false } });
  await ask(script, { provideClusterInfo: true });
  expect(JSON.parse((await readFile(out, 'utf8')).split('\n')[1] ?? '').spec.cluster).toEqual({
    server: 'https://192.0.2.1',
    'tls-server-name': 'api',
    'certificate-authority-data': Buffer.from('PEM').toString('base64'),
  });
});

test.each([
  ['echo SECRET >&2; exit 3', 'returned no credentials: exit code 3'],
  ['kill -9 $$', 'returned no credentials: it was killed'],
  ['head -c 3000000 /dev/zero', 'returned no credentials: it wrote more than 1 MiB'],
])('the exit of a plugin is reported without its output: %p', async (script, said) => {
  await expect(ask(script)).rejects.toThrow(new RegExp(`^users: "u": exec: .*/program-\\d+ ${said}$`));
});

test.each([
  ['echo SECRET', 'expected an ExecCredential in JSON, got something else'],
  ['', 'expected an ExecCredential in JSON, got something else'],
  [answer({}), 'expected a token or a certificate with its key, got neither'],
  [answer({ clientKeyData: 'SECRET' }), 'expected a certificate with its key, got one without the other'],
  [
    answer({ token: 'SECRET' }, 'client.authentication.k8s.io/v1beta1'),
    `expected an ExecCredential of ${V1}, got one of another version`,
  ],
  [
    answer({ token: 'SECRET', expirationTimestamp: 'soon' }),
    'expirationTimestamp: expected a time, got something else',
  ],
])('an invalid response of a plugin is reported without its content: %p', async (script, said) => {
  await expect(ask(script)).rejects.toThrow(new Error(`users: "u": exec: ${said}`));
});

test('a missing plugin is reported with its install hint, and a hanging one times out', async () => {
  const missing = { command: '/nowhere/login', installHint: 'install it\nso' };
  await expect(ask('', missing)).rejects.toThrow(
    'users: "u": exec: /nowhere/login cannot be run: no such program: install it\\nso',
  );
  await expect(ask('sleep 60', {}, 200)).rejects.toThrow(/returned no credentials in time$/);
});

test('the child processes of a plugin are terminated with it', async () => {
  const out = join(folder, 'child');
  await expect(ask(`sleep 60 & echo $! > ${out}; wait`, {}, 500)).rejects.toThrow(/returned no credentials in time$/);
  const child = Number(await readFile(out, 'utf8'));
  await eventually('its child has ended', async () => (await findProcess(child)) === undefined);
});

test('each run is counted by its exit code, and a plugin that cannot be started as not found', async () => {
  const calls: ExecPluginCall[] = [];
  const observer = { called: (call: ExecPluginCall) => void calls.push(call) };
  const run = async (command: string, timeoutMs = 60_000) => {
    const exec = { apiVersion: V1, command, interactiveMode: 'Never' } as const;
    await runExecPlugin({
      exec,
      cluster: { server: 'https://192.0.2.1' },
      errorPrefix: 'exec',
      timeoutMs,
      observer,
    }).catch(() => {});
    return calls.at(-1);
  };
  expect(await run(await program(answer({ token: 'a' })))).toEqual({ status: 'no_error', code: 0 });
  expect(await run(await program('echo no credential'))).toEqual({ status: 'no_error', code: 0 });
  expect(await run(await program('exit 3'))).toEqual({ status: 'plugin_execution_error', code: 3 });
  expect(await run(await program('kill -9 $$'))).toEqual({ status: 'plugin_execution_error', code: -1 });
  expect(await run(await program('sleep 100'), 50)).toEqual({ status: 'plugin_execution_error', code: -1 });
  expect(await run(join(folder, 'missing'))).toEqual({ status: 'plugin_not_found_error', code: 1 });
  expect(calls).toHaveLength(6);
});
