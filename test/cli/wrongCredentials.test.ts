/** A cluster node that starts with a kubeconfig whose credentials cannot be used. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';

jest.setTimeout(60_000);

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'statelet-credentials-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Starts the daemon with this user. Returns its error output and exit code. */
function started(name: string, user: object) {
  const kubeconfig = join(directory, 'kubelet.conf');
  const config = {
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: name } }],
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
    users: [{ name, user }],
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
  const places = ['--root-dir', join(directory, 'root'), '--pod-log-dir', join(directory, 'logs/pods')];
  const runtime = ['--container-runtime-endpoint', `unix://${directory}/none.sock`];
  const { status, stderr } = spawnSync(
    ...([process.execPath, ['cli/main.ts', 'run', ...places, ...runtime, '--kubeconfig', kubeconfig]] as const),
    { encoding: 'utf8', timeout: 30_000 },
  );
  const sentences = stderr.split('\n').filter((line) => line !== '' && !/^[IWE]\d{4} /.test(line));
  return { status, stderr, sentences, kubeconfig };
}

test('unusable credentials are reported in one sentence with the file and the field, and exit code 1', () => {
  const file = join(directory, 'node.pem');
  writeFileSync(file, 'SECRET');
  const { status, sentences, kubeconfig } = started('node', { 'client-certificate': file, 'client-key': file });
  const place = `--kubeconfig: ${kubeconfig}: users: "node": client-certificate: ${file}`;
  expect([status, sentences]).toEqual([
    1,
    [`statelet: ${place}: expected a certificate in PEM, got text without a PEM block`],
  ]);
});

test('a device as a credentials file is reported, with control characters in names escaped', () => {
  const { status, stderr, sentences } = started('\x1b[2J\nok', { tokenFile: '/dev/zero' });
  expect([status, sentences]).toEqual([1, [expect.stringContaining('tokenFile: /dev/zero: a device, not a file')]]);
  expect(stderr).not.toContain('\x1b');
});
