import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type FileSystem, hostFiles } from '../../../host/files/fileSystem.ts';
import type { CaReload } from '../../../kubelet-api/metrics/requests/credentialMetrics.ts';
import { ConfigError } from '../../../node/config/configError.ts';
import type { Kubeconfig } from '../../../node/config/files/kubeconfig.ts';
import { KubeconfigCredentials } from '../../../node/credentials/kubeconfigCredentials.ts';
import { Authority, type KeyPair } from '../../testing/apiserver/serving/certificates.ts';

let folder = '';
let ca = '';
let [first, second]: [KeyPair, KeyPair] = [
  { cert: '', key: '' },
  { cert: '', key: '' },
];
const at = (name: string) => join(folder, name);
const errorPrefixes = { cluster: '--kubeconfig: /k: clusters: "c": ', user: '--kubeconfig: /k: users: "u": ' };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'credentials-'));
  const authority = new Authority();
  ca = authority.cert;
  [first, second] = [authority.issue('/CN=a'), authority.issue('/CN=b')];
  authority.remove();
});
afterAll(() => rm(folder, { recursive: true }));

function credentials(user: Kubeconfig['user'], cluster: Partial<Kubeconfig['cluster']> = {}, files = hostFiles) {
  const time = { now: Date.now() };
  const problems: string[] = [];
  const found = { cluster: { server: 'https://192.0.2.1', ...cluster }, user, errorPrefixes };
  const clock = { now: () => time.now, monotonic: () => time.now };
  const reloads: string[] = [];
  const observer = {
    called: () => {},
    certificateChanged: () => {},
    caReloaded: ({ result, reason }: CaReload) => void reloads.push(`${result} ${reason}`),
  };
  const onProblem = (problem: string) => void problems.push(problem);
  const source = new KubeconfigCredentials(found, { clock, onProblem, files, observer });
  return { source, problems, time, reloads };
}
const inFiles = () => ({ 'client-certificate': at('crt'), 'client-key': at('key') });
const write = ({ cert, key }: KeyPair) => Promise.all([writeFile(at('crt'), cert), writeFile(at('key'), key)]);

test('without any settings, there is no token and no problem', async () => {
  const { source, problems } = credentials({ token: '', tokenFile: '' });
  await source.load();
  expect([await source.token(), problems]).toEqual([undefined, []]);
});

test('inline data takes precedence over a file, but a token file takes precedence over an inline token', async () => {
  await writeFile(at('token'), 'of-the-file');
  const data = { 'client-certificate-data': first.cert, 'client-key-data': first.key };
  const files = { 'client-certificate': at('none'), 'client-key': at('none'), tokenFile: at('token'), token: 'other' };
  const { source } = credentials({ ...data, ...files }, { 'certificate-authority-data': ca });
  await source.load();
  expect(await source.token()).toBe('of-the-file');
});

test('a file that contains both the certificate and its key is read once', async () => {
  await writeFile(at('both'), `${first.cert}${first.key}`);
  const opened: string[] = [];
  const open: FileSystem['open'] = (path, flags) => {
    opened.push(path);
    return hostFiles.open(path, flags);
  };
  const user = { 'client-certificate': at('both'), 'client-key': at('both') };
  await credentials(user, {}, { ...hostFiles, open }).source.load();
  expect(opened).toEqual([at('both')]);
});

test('a problem at the start is reported with the kubeconfig, the field and the file', async () => {
  const refused = async (user: Kubeconfig['user'], cluster: Partial<Kubeconfig['cluster']> = {}) => {
    const error: unknown = await credentials(user, cluster)
      .source.load()
      .catch((failure) => failure);
    expect(error).toBeInstanceOf(ConfigError);
    return error instanceof Error ? error.message : '';
  };
  await write({ cert: first.cert, key: second.key });
  expect(await refused(inFiles())).toBe(
    `${errorPrefixes.user}client-key: ${at('key')}: expected the key of the client-certificate, got the key of a different certificate`,
  );
  expect(await refused({ 'client-certificate-data': first.cert, 'client-key-data': 'SECRET' })).toBe(
    `${errorPrefixes.user}client-key-data: expected a private key in PEM, got text without a PEM block`,
  );
  expect(await refused({}, { 'certificate-authority': '/dev/zero' })).toBe(
    `${errorPrefixes.cluster}certificate-authority: /dev/zero: a device, not a file`,
  );
  expect(await refused({ tokenFile: at('no-token') })).toBe(
    `${errorPrefixes.user}tokenFile: ${at('no-token')}: no such file`,
  );
  expect(await refused({ token: 'SEC\nRET' })).toMatch(/users: "u": token: expected a token, got invalid characters/);
});

test('control characters in a file name are escaped in the error', async () => {
  const { source } = credentials({ 'client-certificate': '/n/\x1b[2J\nok', 'client-key': '/n/\x1b[2J\nok' });
  await expect(source.load()).rejects.toThrow(`${errorPrefixes.user}client-certificate: /n/^[[2J\\nok: no such file`);
});

test('the same files give the same TLS context, and different ones a different one', async () => {
  await write(first);
  const { source } = credentials(inFiles());
  const known = await source.context();
  expect(await source.context()).toBe(known);
  await write(second);
  expect(await source.context()).not.toBe(known);
});

test('a later problem is reported once, and the previous credentials are used until there are valid ones', async () => {
  await write(first);
  const { source, problems } = credentials(inFiles());
  await source.load();
  const known = await source.context();
  await writeFile(at('crt'), 'torn');
  expect([await source.context(), await source.context()]).toEqual([known, known]);
  const crt = `${errorPrefixes.user}client-certificate: ${at('crt')}`;
  const rest = 'the previous version is used until this is fixed';
  expect(problems).toEqual([`${crt}: expected a certificate in PEM, got text without a PEM block; ${rest}`]);
  await rm(at('crt'));
  expect(await source.context()).toBe(known);
  expect(problems.slice(1)).toEqual([`${crt}: no such file; ${rest}`]);
  await write(second);
  expect(await source.context()).not.toBe(known);
  expect(problems).toHaveLength(2);
});

test('an expired certificate is reported once, even if it expires while it is used', async () => {
  await write(first);
  const { source, problems, time } = credentials(inFiles());
  await source.load();
  expect(problems).toEqual([]);
  time.now += 365 * 86_400_000;
  source.handleUnauthorized();
  source.handleUnauthorized();
  const end = new Date(new X509Certificate(first.cert).validTo).toISOString();
  const said = `${errorPrefixes.user}client-certificate: ${at('crt')}: the certificate expired on ${end}`;
  expect(problems).toEqual([said]);
  await write(second);
  await source.context();
  expect(problems).toHaveLength(2);
});

test('each read of the CA file after the first is counted by its result', async () => {
  const authority = new Authority();
  const other = authority.cert;
  authority.remove();
  await writeFile(at('ca'), ca);
  const { source, reloads } = credentials({}, { 'certificate-authority': at('ca') });
  await source.load();
  expect(reloads).toEqual([]);
  for (const text of [ca, '', 'nonsense', ca, other, other]) {
    await writeFile(at('ca'), text);
    await source.context();
  }
  await rm(at('ca'));
  await source.context();
  expect(reloads).toEqual([
    'success unchanged',
    'failure empty',
    'failure ca_parse_error',
    'success unchanged',
    'success updated',
    'success unchanged',
    'failure read_error',
  ]);
});

test('certificate authorities in the kubeconfig itself are never reloaded', async () => {
  const { source, reloads } = credentials({}, { 'certificate-authority-data': ca });
  for (let each = 0; each < 3; each += 1) await source.context();
  expect(reloads).toEqual([]);
});
