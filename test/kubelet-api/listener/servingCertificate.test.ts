/** Tests the self-signed certificate of the node. */
import { X509Certificate } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { hostFiles } from '../../../host/files/fileSystem.ts';
import { parsePemBlocks } from '../../../kubeclient/pemBlocks.ts';
import { ensureSelfSignedPair, issuedPair, readPair } from '../../../kubelet-api/listener/servingCertificate.ts';
import { authority, directory, listening, server } from './support/listening.ts';

const now = Date.now();
const problems: string[] = [];
afterEach(() => void problems.splice(0));

const parts = (place: string) => ({
  directory: join(place, 'pki'),
  names: ['host', '127.0.0.1'],
  files: hostFiles,
  now,
  onProblem: (problem: string) => void problems.push(problem),
});

test('C38: a self-signed certificate is like that of a kubelet: with its authority in one file, for a year, and created once', async () => {
  const place = directory();
  const pair = await ensureSelfSignedPair(parts(place));
  const text = readFileSync(pair.certFile, 'utf8');
  const [own, root] = parsePemBlocks(text).map((block) => new X509Certificate(block.pem));
  const stamp = Math.floor(now / 1_000);
  expect([own?.subject, own?.issuer, root?.subject]).toEqual([
    `CN=host@${stamp}`,
    `CN=host-ca@${stamp}`,
    `CN=host-ca@${stamp}`,
  ]);
  expect([own?.subjectAltName, own?.ca, root?.ca]).toEqual(['DNS:host, IP Address:127.0.0.1', false, true]);
  expect(own?.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  expect(own && root && own.verify(root.publicKey) && own.checkIssued(root)).toBe(true);
  expect(own?.publicKey.asymmetricKeyDetails?.modulusLength).toBe(2048);
  const year = 365 * 24 * 3_600_000;
  expect(Math.abs(Number(own?.validToDate) - now - year)).toBeLessThan(1_000);
  expect([pair.certFile, pair.keyFile].map((file) => statSync(file).mode % 0o1000)).toEqual([0o644, 0o600]);
  await ensureSelfSignedPair(parts(place));
  expect(readFileSync(pair.certFile, 'utf8')).toBe(text);
  expect(problems).toEqual([]);
}, 30_000);

test('a damaged key is renamed with its certificate and reported, and a new pair is created', async () => {
  const place = directory();
  const pair = await ensureSelfSignedPair(parts(place));
  const text = readFileSync(pair.certFile, 'utf8');
  writeFileSync(pair.keyFile, 'cut off');
  await ensureSelfSignedPair(parts(place));
  expect(readFileSync(pair.certFile, 'utf8')).not.toBe(text);
  const setAside = [pair.certFile, pair.keyFile].map((file) => `${file}.corrupt`);
  expect(setAside.map((file) => readFileSync(file, 'utf8'))).toEqual([text, 'cut off']);
  expect(problems).toEqual([expect.stringContaining(`${pair.keyFile}: `)]);
  expect(problems[0]).toContain(`the files are now ${setAside.join(' and ')}`);
  await ensureSelfSignedPair(parts(place));
  expect(problems).toHaveLength(1);
}, 30_000);

test('clients can trust the self-signed certificate by its file', async () => {
  const place = directory();
  const certificatePair = await ensureSelfSignedPair(parts(place));
  const { ask } = await listening({ certificatePair });
  const ca = readFileSync(certificatePair.certFile);
  expect((await ask('/pods', { ca, servername: 'host' })).code).toBe(200);
  await expect(ask('/pods', { ca: authority.cert, servername: 'host' })).rejects.toThrow();
}, 30_000);

test('a pair is read completely, or not at all', async () => {
  const place = directory();
  const pair = issuedPair(place);
  expect(await readPair(hostFiles, pair)).toBeUndefined();
  writeFileSync(pair.certFile, server.cert + server.key);
  expect((await readPair(hostFiles, pair))?.key).toContain(server.key);
  writeFileSync(pair.certFile, server.cert);
  const refused = await readPair(hostFiles, pair).catch((error: unknown) => String(error));
  expect(refused).toMatch(/kubelet-server-current\.pem: /);
  await expect(readPair(hostFiles, { certFile: place, keyFile: place })).rejects.toThrow('a directory, not a file');
});

test('a certificate that cannot be written is reported in one clear message', async () => {
  const place = directory();
  writeFileSync(join(place, 'pki'), '');
  await expect(ensureSelfSignedPair(parts(place))).rejects.toThrow(/^the node's serving certificate: /);
}, 30_000);
