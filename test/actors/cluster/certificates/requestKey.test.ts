import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { encodeKey, generateKey, RequestKey } from '../../../../actors/cluster/certificates/requestKey.ts';
import type { GetFileFault } from '../../../../host/simulated/faultyCalls.ts';
import { MemoryDisk } from '../../../../host/simulated/memoryDisk.ts';
import { MemoryFiles } from '../../../../host/simulated/memoryFiles.ts';

const DIRECTORY = '/pki';
/** The directory in which the kubelet stores the key. */
const FILE = '/pki/kubelet-client.key.tmp';

type Faults = (call: Parameters<GetFileFault>[0], disk: MemoryDisk) => ReturnType<GetFileFault>;

function stand(faults: Faults = () => undefined) {
  const disk = new MemoryDisk(() => 0);
  const files = new MemoryFiles(disk);
  const messages: string[] = [];
  const take = () =>
    new RequestKey(new MemoryFiles(disk, (call) => faults(call, disk)), DIRECTORY).readOrCreate(({ message }) =>
      messages.push(message),
    );
  const writeKey = async (text: string, mode = 0o600) => {
    await files.mkdir(DIRECTORY, { recursive: true });
    await files.writeFile(FILE, text, { mode });
  };
  return { files, messages, take, writeKey, forget: () => new RequestKey(files, DIRECTORY).discard() };
}

const publicOf = (key: KeyObject | string) =>
  createPublicKey(typeof key === 'string' ? createPrivateKey(key) : key).export({ type: 'spki', format: 'pem' });

const pemOf = (type: 'rsa' | 'ed25519' | 'P-384', how: 'pkcs8' | 'pkcs1' = 'pkcs8'): string => {
  const { privateKey } =
    type === 'rsa'
      ? generateKeyPairSync('rsa', { modulusLength: 2_048 })
      : type === 'ed25519'
        ? generateKeyPairSync('ed25519')
        : generateKeyPairSync('ec', { namedCurve: type });
  return String(privateKey.export({ type: how, format: 'pem' }));
};

test('a new request key is written to disk for the agent alone before the request is sent, and is reused until it is forgotten', async () => {
  const { files, messages, take, forget } = stand();
  const key = await take();
  const text = String(await files.readFile(FILE));
  expect(text).toMatch(/^-----BEGIN EC PRIVATE KEY-----\n/);
  expect([publicOf(text), (await files.stat(FILE)).mode & 0o777]).toEqual([publicOf(key), 0o600]);
  expect(await files.readdir(DIRECTORY)).toEqual(['kubelet-client.key.tmp']);
  expect(publicOf(await take())).toBe(publicOf(key));
  await forget();
  expect(await files.readdir(DIRECTORY)).toEqual([]);
  await forget();
  expect(publicOf(await take())).not.toBe(publicOf(key));
  expect(messages).toEqual([]);
});

test.each([
  ['ECDSA as Go writes it', encodeKey(generateKey())],
  [
    'ECDSA with its parameters before',
    `-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n${encodeKey(generateKey())}`,
  ],
  ['ECDSA on another curve', pemOf('P-384')],
  ['RSA', pemOf('rsa', 'pkcs1')],
  ['RSA in PKCS#8', pemOf('rsa')],
])('an existing key file is used: %s', async (_what, text) => {
  const { files, messages, take, writeKey } = stand();
  await writeKey(text);
  const own = text.slice(text.lastIndexOf('-----BEGIN'));
  expect(publicOf(await take())).toBe(publicOf(own));
  expect([await files.readFile(FILE), messages]).toEqual([text, []]);
});

const CUT_OFF = encodeKey(generateKey()).slice(0, 100);

test.each([
  ['nothing', '', 'nothing'],
  ['a text', 'hunter2', 'text without a PEM block'],
  ['a truncated key', CUT_OFF, 'a PEM block that is cut off'],
  [
    'a key that is broken',
    encodeKey(generateKey()).replace(/\n.{20}/, '\nAAAAAAAAAAAAAAAAAAAA'),
    'PEM of EC PRIVATE KEY',
  ],
  ['a certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n', 'PEM of CERTIFICATE'],
  ['a key of an unsupported type', pemOf('ed25519'), 'PEM of PRIVATE KEY'],
])('%s in place of the key file is reported once and replaced', async (_what, text, found) => {
  const { files, messages, take, writeKey } = stand();
  await writeKey(text, 0o644);
  const key = await take();
  expect(messages).toEqual([
    `${FILE}: expected a private key in PEM, RSA or ECDSA, found ${found}; it is replaced by a new key, and a new certificate is requested`,
  ]);
  expect(publicOf(String(await files.readFile(FILE)))).toBe(publicOf(key));
  expect((await files.stat(FILE)).mode & 0o777).toBe(0o600);
  expect([publicOf(await take()), messages.length]).toEqual([publicOf(key), 1]);
});

test('an unreadable key file is not replaced, and no certificate is requested if the key cannot be written', async () => {
  const trouble = { call: '', code: 'EACCES' as 'EACCES' | 'ENOSPC' };
  const { files, messages, take, writeKey } = stand(({ call }) =>
    call === trouble.call ? { code: trouble.code } : undefined,
  );
  const text = encodeKey(generateKey());
  await writeKey(text);
  trouble.call = 'open';
  await expect(take()).rejects.toMatchObject({
    reason: 'CertificateUnusable',
    message: expect.stringMatching(/^\/pki.*EACCES.*\(it must belong to the user of the agent\)$/),
  });
  expect(await files.readFile(FILE)).toBe(text);
  await files.rm(FILE);
  Object.assign(trouble, { call: 'rename', code: 'ENOSPC' });
  await expect(take()).rejects.toMatchObject({ reason: 'CertificateUnusable' });
  expect([await files.readdir(DIRECTORY), messages]).toEqual([[], []]);
});

test('the key file is never readable for other users, even if an earlier attempt left a temporary file', async () => {
  const seen: number[] = [];
  const { files, take, forget } = stand(({ call }, disk) => {
    if (call === 'rename') seen.push(disk.inodeAt(`${FILE}.tmp`, 'lstat').mode & 0o777);
    return undefined;
  });
  await take();
  await forget();
  await files.writeFile(`${FILE}.tmp`, 'half', { mode: 0o644 });
  await take();
  expect([seen, (await files.stat(FILE)).mode & 0o777]).toEqual([[0o600, 0o600], 0o600]);
});

test('a directory in place of the key file is reported and left alone', async () => {
  const { files, messages, take } = stand();
  await files.mkdir(FILE, { recursive: true });
  await expect(take()).rejects.toMatchObject({ reason: 'CertificateUnusable' });
  expect(messages).toEqual([expect.stringContaining('found a directory, not a file')]);
});
