import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { readSigningRequest } from '../../../../testing/apiserver/certificates/signingRequest.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const openssl = (...args: readonly string[]): string =>
  execFileSync(
    'openssl',
    ['req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', '/dev/null', ...args],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  );

test('a certificate request of OpenSSL is parsed', () => {
  const request = openssl(
    '-subj',
    '/O=system:nodes/O=others/CN=system:node:n1',
    '-addext',
    'subjectAltName=DNS:n1,IP:192.0.2.1',
  );
  expect(readSigningRequest(base64(request))).toMatchObject({
    commonName: 'system:node:n1',
    organizations: ['system:nodes', 'others'],
    dnsNames: ['n1'],
    ips: ['192.0.2.1'],
    isSigned: true,
  });
});

test('a modified certificate request has no valid signature', () => {
  const der = Buffer.from(openssl('-subj', '/CN=good').replaceAll(/-----.*-----|\n/g, ''), 'base64');
  der[der.indexOf('good')] = 'w'.charCodeAt(0);
  const request = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
  expect(readSigningRequest(base64(request))).toMatchObject({ commonName: 'wood', isSigned: false });
});

test.each(['', 'text', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'])(
  '%p is not a valid certificate signing request',
  (text) => {
    expect(() => readSigningRequest(base64(text))).toThrow('PEM block type must be CERTIFICATE REQUEST');
  },
);
