import { execFileSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Authority } from '../../../../testing/apiserver/serving/authority.ts';

const authority = new Authority();
const pair = authority.issue({ name: 'system:node:n1', groups: ['system:nodes', 'others'] });
const cert = new X509Certificate(pair.cert);

test('a certificate has its key and subject, and is valid for loopback', () => {
  expect(cert.subject).toBe('O=system:nodes\nO=others\nCN=system:node:n1');
  expect(cert.checkPrivateKey(createPrivateKey(pair.key))).toBe(true);
  expect([cert.checkIP('127.0.0.1'), cert.checkHost('localhost')]).toEqual(['127.0.0.1', 'localhost']);
  expect([cert.checkIP('127.0.0.2'), cert.checkHost('example.org')]).toEqual([undefined, undefined]);
});

test('a certificate is signed by its authority and by no other', () => {
  const own = new X509Certificate(authority.cert);
  expect([own.ca, cert.ca, cert.checkIssued(own), cert.verify(own.publicKey)]).toEqual([true, false, true, true]);
  expect(cert.verify(new X509Certificate(new Authority().cert).publicKey)).toBe(false);
});

test('OpenSSL accepts a certificate in strict mode, for servers and for clients', () => {
  const directory = mkdtempSync(join(tmpdir(), 'authority-'));
  try {
    const [ca, leaf] = [join(directory, 'ca'), join(directory, 'leaf')];
    writeFileSync(ca, authority.cert);
    writeFileSync(leaf, pair.cert);
    for (const purpose of ['sslserver', 'sslclient']) {
      const args = ['verify', '-x509_strict', '-purpose', purpose, '-CAfile', ca, leaf];
      expect(execFileSync('openssl', args, { encoding: 'utf8' })).toBe(`${leaf}: OK\n`);
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
});
