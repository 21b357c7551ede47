import { execFileSync } from 'node:child_process';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { createSigningRequest } from '../../../../actors/cluster/certificates/signingRequest.ts';
import { readSigningRequest } from '../../../../testing/apiserver/certificates/signingRequest.ts';

const NODE = { commonName: 'system:node:node-1', organization: 'system:nodes' };
const names = { dnsNames: ['node-1', 'node-1.example.org'], ips: ['192.0.2.1', '2001:db8::1'] };

test('OpenSSL reads the requested subject and names from the signing request, and verifies its signature', async () => {
  const { request } = createSigningRequest({ ...NODE, names });
  const text = execFileSync('openssl', ['req', '-noout', '-text', '-verify'], { input: request, encoding: 'utf8' });
  expect(text).toMatch(/Subject: O ?= ?system:nodes, CN ?= ?system:node:node-1/);
  expect(text).toContain('DNS:node-1, DNS:node-1.example.org, IP Address:192.0.2.1, IP Address:2001:DB8:0:0:0:0:0:1');
  expect(text).toContain('NIST CURVE: P-256');
});

test('the test API server reads the same subject and names from the signing request', async () => {
  const { request, key } = createSigningRequest({ ...NODE, names });
  const read = readSigningRequest(Buffer.from(request).toString('base64'));
  expect(read).toMatchObject({ commonName: NODE.commonName, organizations: [NODE.organization], isSigned: true });
  expect([read.dnsNames, read.ips[0]]).toEqual([names.dnsNames, '192.0.2.1']);
  expect(read.publicKey.equals(createPublicKey(createPrivateKey(key)))).toBe(true);
});

test('a client certificate request contains no names, and uses a new key each time', async () => {
  const none = { dnsNames: [], ips: [] };
  const [one, other] = [createSigningRequest({ ...NODE, names: none }), createSigningRequest({ ...NODE, names: none })];
  expect(one.key).not.toBe(other.key);
  expect(one.key).toContain('-----BEGIN EC PRIVATE KEY-----');
  expect(readSigningRequest(Buffer.from(one.request).toString('base64'))).toMatchObject({ dnsNames: [], ips: [] });
});
