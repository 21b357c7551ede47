import { expect, test } from '@jest/globals';
import { CertificateFiles } from '../../../../actors/cluster/certificates/certificateFiles.ts';
import { createSigningRequest } from '../../../../actors/cluster/certificates/signingRequest.ts';
import type { GetFileFault } from '../../../../host/simulated/faultyCalls.ts';
import { MemoryDisk } from '../../../../host/simulated/memoryDisk.ts';
import { MemoryFiles } from '../../../../host/simulated/memoryFiles.ts';
import { alternativeNamesOf, coversNames, NO_NAMES } from '../../../../kubernetes/node/alternativeNames.ts';
import { readSigningRequest } from '../../../../testing/apiserver/certificates/signingRequest.ts';
import { Authority } from '../../../../testing/apiserver/serving/authority.ts';

const DIRECTORY = '/pki';
const HOUR = 3_600_000;
const AT = new Date(2026, 0, 2, 3, 4, 5).getTime();
const FIRST = `${DIRECTORY}/kubelet-client-2026-01-02-03-04-05.pem`;
const CURRENT = `${DIRECTORY}/kubelet-client-current.pem`;
const authority = new Authority();

/** Returns a private key and a certificate for it. */
async function pair(from = AT, to = AT + HOUR, names = NO_NAMES) {
  const { request, key } = createSigningRequest({
    commonName: 'system:node:n',
    organization: 'system:nodes',
    names,
  });
  const read = readSigningRequest(Buffer.from(request).toString('base64'));
  return { key, cert: authority.sign(read, { usage: 'client auth', from, to }) };
}

function stand(faults: GetFileFault = () => undefined) {
  const disk = new MemoryDisk(() => AT);
  const [files, faulty] = [new MemoryFiles(disk), new MemoryFiles(disk, faults)];
  const problems: string[] = [];
  const own = new CertificateFiles(faulty, DIRECTORY, 'client', (problem) => void problems.push(problem));
  return { files, own, problems, names: () => files.readdir(DIRECTORY) };
}

test('certificate files are laid out like those of a kubelet: one file that only the owner can read, and a symlink to it', async () => {
  const { files, own, names } = stand();
  expect(await own.read()).toBeUndefined();
  const { cert, key } = await pair();
  const kept = await own.write(cert, key, AT);
  const subject = { commonName: 'system:node:n', organizations: ['system:nodes'] };
  expect(kept).toEqual({ subject, notBefore: AT, notAfter: AT + HOUR, names: NO_NAMES });
  expect((await names()).sort()).toEqual(['kubelet-client-2026-01-02-03-04-05.pem', 'kubelet-client-current.pem']);
  expect(await files.readlink(CURRENT)).toBe(FIRST);
  expect(await files.readFile(FIRST)).toBe(cert + key);
  expect((await files.stat(FIRST)).mode & 0o777).toBe(0o600);
  expect(await own.read()).toEqual(kept);
});

test('a certificate with an IPv6 address is valid for the Node with that address, even after a restart', async () => {
  const { own } = stand();
  const names = alternativeNamesOf([
    { type: 'InternalIP', address: 'fd00::1' },
    { type: 'InternalIP', address: '192.0.2.1' },
    { type: 'Hostname', address: 'node-1' },
  ]);
  const { cert, key } = await pair(AT, AT + HOUR, names);
  const written = await own.write(cert, key, AT);
  expect(written.names).toEqual({ dnsNames: ['node-1'], ips: ['192.0.2.1', 'fd00::1'] });
  expect(coversNames(written.names, names)).toBe(true);
  expect(await own.read()).toEqual(written);
});

test('a new certificate becomes current at once, and only expired certificates are removed', async () => {
  const { files, own, names } = stand();
  const [first, second, third] = [await pair(), await pair(AT, AT + 3 * HOUR), await pair(AT, AT + 3 * HOUR)];
  await own.write(first.cert, first.key, AT);
  await own.write(second.cert, second.key, AT + 1_000);
  await own.write(third.cert, third.key, AT + 2 * HOUR);
  expect(await files.readFile(CURRENT)).toBe(third.cert + third.key);
  expect((await names()).sort()).toEqual([
    'kubelet-client-2026-01-02-03-04-06.pem',
    'kubelet-client-2026-01-02-05-04-05.pem',
    'kubelet-client-current.pem',
  ]);
});

test('a damaged file is reported once and is not overwritten', async () => {
  const { files, own, problems } = stand();
  const { cert, key } = await pair();
  await own.write(cert, key, AT);
  await files.writeFile(FIRST, cert);
  expect([await own.read(), await own.read()]).toEqual([undefined, undefined]);
  expect(problems).toEqual([
    `${CURRENT}: expected a private key in PEM, found none; a new certificate is requested, and the file stays`,
  ]);
  await own.write(cert, key, AT + 1_000);
  expect(await own.read()).toMatchObject({ notAfter: AT + HOUR });
  expect(await files.readFile(FIRST)).toBe(cert);
  expect(problems).toHaveLength(1);
});

test('a half-finished rotation of a kubelet is completed, and a certificate pair without a date is used', async () => {
  const { files, own } = stand();
  const { cert, key } = await pair();
  await files.mkdir(DIRECTORY);
  await files.writeFile(`${DIRECTORY}/kubelet-client.crt`, cert);
  await files.writeFile(`${DIRECTORY}/kubelet-client.key`, key);
  expect(await own.read()).toMatchObject({ notAfter: AT + HOUR });
  const later = await pair(AT, AT + 2 * HOUR);
  await files.writeFile(FIRST, later.cert + later.key);
  await files.symlink(FIRST, `${DIRECTORY}/kubelet-client-updated.pem`);
  expect(await own.read()).toMatchObject({ notAfter: AT + 2 * HOUR });
  expect(await files.readlink(CURRENT)).toBe(FIRST);
});

test.each(['ENOSPC', 'EACCES', 'EIO'] as const)(
  'the current certificate remains in use if writing a new one fails with %s',
  async (code) => {
    const state = { isFailing: false };
    const { files, own, names } = stand(({ call }) =>
      state.isFailing && (call === 'write' || call === 'open') ? { code } : undefined,
    );
    const [first, second] = [await pair(), await pair()];
    await own.write(first.cert, first.key, AT);
    state.isFailing = true;
    await expect(own.write(second.cert, second.key, AT + 1_000)).rejects.toThrow(`${DIRECTORY}: ${code}`);
    expect(await files.readFile(CURRENT)).toBe(first.cert + first.key);
    expect(await names()).toHaveLength(2);
  },
);

test('a certificate that does not match the private key is never used', async () => {
  const { own } = stand();
  const [one, other] = [await pair(), await pair()];
  await expect(own.write(one.cert, other.key, AT)).rejects.toThrow('the certificate does not match its private key');
  await expect(own.write('', other.key, AT)).rejects.toThrow('expected a certificate in PEM, found none');
});

test.each(['text', '', 'cut', 'of another key'])(
  'a certificate file with invalid content (%p) is treated as missing, so a new one can be written',
  async (kind) => {
    const { files, own } = stand();
    const [{ cert, key }, other] = [await pair(), await pair()];
    const texts: Record<string, string> = { cut: cert + key.slice(0, 40), 'of another key': cert + other.key };
    await files.mkdir(DIRECTORY);
    await files.writeFile(FIRST, texts[kind] ?? kind);
    await files.symlink(FIRST, CURRENT);
    expect(await own.read()).toBeUndefined();
    await own.write(cert, key, AT + 1_000);
    expect(await own.read()).toMatchObject({ notAfter: AT + HOUR });
  },
);

test('a directory or a file at the path of the symlink is left alone', async () => {
  const { files, own } = stand();
  const { cert, key } = await pair();
  await files.mkdir(CURRENT, { recursive: true });
  await expect(own.read()).rejects.toThrow(`${CURRENT}: a directory, not a file`);
  await expect(own.write(cert, key, AT)).rejects.toThrow(`${CURRENT}: expected a link`);
});

test('an error about an inaccessible directory says which user must own it', async () => {
  const { own } = stand(() => ({ code: 'EACCES' }));
  await expect(own.read()).rejects.toThrow('(it must belong to the user of the agent)');
});
