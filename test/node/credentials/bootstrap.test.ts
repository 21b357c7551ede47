import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { readKubeconfig } from '../../../node/config/files/kubeconfig.ts';
import { writeBootstrappedKubeconfig } from '../../../node/credentials/bootstrap.ts';
import { Authority } from '../../testing/apiserver/serving/certificates.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
let folder = '';
let authority: Authority;
const at = (name: string) => join(folder, name);
const now = { of: Date.now() };

beforeAll(() => {
  authority = new Authority();
});
afterAll(() => authority.remove());
afterEach(() => rm(folder, { recursive: true }));
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bootstrap-'));
  now.of = Date.now();
  await writeFile(at('bootstrap.conf'), kubeconfig({ token: 'abcdef.0123456789abcdef' }));
});

const kubeconfig = (user: object) =>
  JSON.stringify({
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [
      {
        name: 'c',
        cluster: {
          server: 'https://192.0.2.1:6443',
          'certificate-authority-data': base64(authority.cert),
          'tls-server-name': 'kubernetes',
        },
      },
    ],
    users: [{ name: 'u', user }],
  });

async function begin() {
  const problems: string[] = [];
  const clock = { now: () => now.of, monotonic: () => 0 };
  const paths = {
    kubeconfig: at('kubelet.conf'),
    bootstrapKubeconfig: at('bootstrap.conf'),
    certificate: at('current.pem'),
  };
  const beginning = await writeBootstrappedKubeconfig(paths, { clock, onProblem: (problem) => problems.push(problem) });
  return { beginning, problems };
}
const certificate = () => {
  const { cert, key } = authority.issue('/O=system:nodes/CN=system:node:n1');
  return { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) };
};

test('a kubeconfig is written that refers to the future certificate, as a kubelet writes it', async () => {
  const { beginning, problems } = await begin();
  expect([beginning?.user.token, problems]).toEqual(['abcdef.0123456789abcdef', []]);
  const text = await readFile(at('kubelet.conf'), 'utf8');
  expect(parse(text)).toEqual({
    apiVersion: 'v1',
    kind: 'Config',
    preferences: {},
    'current-context': 'default-context',
    clusters: [
      {
        name: 'default-cluster',
        cluster: {
          server: 'https://192.0.2.1:6443',
          'certificate-authority-data': base64(authority.cert),
          'tls-server-name': 'kubernetes',
        },
      },
    ],
    contexts: [
      { name: 'default-context', context: { cluster: 'default-cluster', namespace: 'default', user: 'default-auth' } },
    ],
    users: [
      { name: 'default-auth', user: { 'client-certificate': at('current.pem'), 'client-key': at('current.pem') } },
    ],
  });
  expect(text).not.toContain('abcdef');
  expect((await stat(at('kubelet.conf'))).mode & 0o777).toBe(0o600);
  expect((await readKubeconfig(at('kubelet.conf'))).user['client-key']).toBe(at('current.pem'));
  expect(await readdir(folder)).toEqual(['bootstrap.conf', 'kubelet.conf']);
});

test('a kubeconfig with a valid certificate takes precedence, and the bootstrap kubeconfig is not even read', async () => {
  const text = kubeconfig(certificate());
  await writeFile(at('kubelet.conf'), text);
  await rm(at('bootstrap.conf'));
  expect(await begin()).toEqual({ beginning: undefined, problems: [] });
  expect(await readFile(at('kubelet.conf'), 'utf8')).toBe(text);
});

test('a kubeconfig that cannot be read, or whose certificate is missing or has expired, is replaced with a warning', async () => {
  for (const [text, said] of [
    [kubeconfig(certificate()), 'has expired'],
    [kubeconfig({ token: 'x' }), 'has no client certificate'],
    ['{', 'kubelet.conf'],
  ] as const) {
    now.of = Date.now() + (said === 'has expired' ? 400 * 86_400_000 : 0);
    await writeFile(at('kubelet.conf'), text);
    const { beginning, problems } = await begin();
    expect(beginning?.user.token).toBeDefined();
    expect(problems).toEqual([
      expect.stringMatching(new RegExp(`${said}.*; it is replaced, bootstrapping from ${at('bootstrap.conf')}$`)),
    ]);
  }
});

test('a missing or invalid bootstrap kubeconfig is reported in one clear message', async () => {
  await writeFile(at('bootstrap.conf'), kubeconfig({ token: 7 }));
  await expect(begin()).rejects.toThrow(`--bootstrap-kubeconfig: ${at('bootstrap.conf')}: users: "u": token: expected`);
  await rm(at('bootstrap.conf'));
  await expect(begin()).rejects.toThrow(`--bootstrap-kubeconfig: ${at('bootstrap.conf')}: no such file`);
});

test('a directory that cannot be written to is reported', async () => {
  await writeFile(at('file'), '');
  const paths = {
    kubeconfig: join(at('file'), 'kubelet.conf'),
    bootstrapKubeconfig: at('bootstrap.conf'),
    certificate: '',
  };
  const clock = { now: () => now.of, monotonic: () => 0 };
  await expect(writeBootstrappedKubeconfig(paths, { clock, onProblem: () => {} })).rejects.toThrow(
    `--kubeconfig: ${paths.kubeconfig} cannot be written`,
  );
});
