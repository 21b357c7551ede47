import { execFileSync } from 'node:child_process';
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { digestedName, findMismatch, type NamedRequest } from '../../../../actors/cluster/certificates/namedRequest.ts';
import { encodeKey, generateKey } from '../../../../actors/cluster/certificates/requestKey.ts';
import { createSigningRequest } from '../../../../actors/cluster/certificates/signingRequest.ts';
import { NO_NAMES } from '../../../../kubernetes/node/alternativeNames.ts';
import { readSigningRequest } from '../../../../testing/apiserver/certificates/signingRequest.ts';
import { Authority } from '../../../../testing/apiserver/serving/authority.ts';

const KEY = generateKey();
const NODE = { commonName: 'system:node:node-1', organization: 'system:nodes' };
const USAGES = ['digital signature', 'client auth'];
const SIGNER = 'kubernetes.io/kube-apiserver-client-kubelet';
const named: NamedRequest = { certificate: NODE, publicKey: createPublicKey(KEY), signerName: SIGNER, usages: USAGES };

test('the request name is the digest of key, subject and usages that a kubelet computes', () => {
  const spki = execFileSync('openssl', ['pkey', '-pubout', '-outform', 'DER'], {
    input: KEY.export({ type: 'sec1', format: 'pem' }),
  });
  const parts = [spki, ...[NODE.commonName, NODE.organization, ...USAGES].map((each) => Buffer.from(each))];
  const text = parts.map((each) => `${each.toString('base64url')}|`).join('');
  const digest = execFileSync('openssl', ['dgst', '-sha512-256', '-binary'], { input: text });
  expect(digestedName(named)).toBe(`node-csr-${digest.toString('base64url')}`);
  expect(digestedName(named)).toMatch(/^node-csr-[\w-]{43}$/);
});

test('a different key, subject or usage results in a different request name', () => {
  const all = [
    named,
    { ...named, publicKey: createPublicKey(generateKey()) },
    { ...named, certificate: { ...NODE, commonName: 'system:node:node-2' } },
    { ...named, certificate: { commonName: 'system:node:node-1system', organization: ':nodes' } },
    { ...named, usages: [...USAGES, 'key encipherment'] },
    { ...named, usages: [USAGES.join('')] },
  ];
  expect(new Set(all.map(digestedName)).size).toBe(all.length);
});

const base64 = (text: string) => Buffer.from(text).toString('base64');
const requestOf = (wanted = NODE, key = KEY) => createSigningRequest({ ...wanted, names: NO_NAMES }, key).request;
const found = (request: string, signerName = SIGNER, status = {}) => ({
  metadata: { name: 'n', uid: 'u' },
  spec: { request: base64(request), signerName },
  status,
});

const NOW = Date.UTC(2026, 0, 2);
const authority = new Authority();
const signed = (to: number) => {
  const read = readSigningRequest(base64(requestOf()));
  return { certificate: base64(authority.sign(read, { usage: 'client auth', from: NOW - 3_600_000, to })) };
};

test('an existing request for the same key is reused, whether it is pending, signed or denied', () => {
  expect(findMismatch(named, found(requestOf()), NOW)).toBeUndefined();
  expect(findMismatch(named, found(requestOf(), SIGNER, signed(NOW + 1_000)), NOW)).toBeUndefined();
  expect(findMismatch(named, found(requestOf(), SIGNER, { conditions: [{ type: 'Denied' }] }), NOW)).toBeUndefined();
});

test('a request for a key of a different type does not match, and the own key can still be read afterwards', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  expect(findMismatch(named, found(requestOf(NODE, privateKey)), NOW)).toBe('it is for a different key');
  expect(() => createPrivateKey(encodeKey(KEY))).not.toThrow();
});

test.each([
  ['it is for a different signer', found(requestOf(), 'kubernetes.io/kubelet-serving')],
  ['it is for a different key', found(requestOf(NODE, generateKey()))],
  ['it is for a different subject', found(requestOf({ ...NODE, commonName: 'system:node:node-2' }))],
  ['it is for a different subject', found(requestOf({ ...NODE, organization: 'system:masters' }))],
  ['its certificate has expired', found(requestOf(), SIGNER, signed(NOW - 1_000))],
  ['it cannot be read', found('hunter2')],
  ['it cannot be read', found('-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n')],
  [
    'it cannot be read',
    found(requestOf(), SIGNER, {
      certificate: base64('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'),
    }),
  ],
  ['it cannot be read', { spec: {} }],
])('an existing request does not match if %s', (why, object) => {
  expect(findMismatch(named, object, NOW)).toBe(why);
});
