import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { tlsContext } from '../../../node/credentials/tlsContext.ts';
import { Authority, type KeyPair } from '../../testing/apiserver/serving/certificates.ts';

const DAY_MS = 86_400_000;
const BROKEN = '-----BEGIN CERTIFICATE-----\nSECRET\n-----END CERTIFICATE-----\n';
const BROKEN_KEY = '-----BEGIN PRIVATE KEY-----\nSECRET\n-----END PRIVATE KEY-----\n';
let ca = '';
let pair: KeyPair;
let other: KeyPair;

beforeAll(() => {
  const authority = new Authority();
  ca = authority.cert;
  [pair, other] = [authority.issue('/CN=a'), authority.issue('/CN=b')];
  authority.remove();
});

const contextOf = (texts: { readonly ca?: string; readonly cert?: string; readonly key?: string }) =>
  tlsContext({
    ca: texts.ca === undefined ? undefined : { text: texts.ca, errorPrefix: 'CA' },
    cert: texts.cert === undefined ? undefined : { text: texts.cert, errorPrefix: 'CERT' },
    key: texts.key === undefined ? undefined : { text: texts.key, errorPrefix: 'KEY' },
  });
/** Returns the error for these credentials. */
function errorOf(texts: Parameters<typeof contextOf>[0]): string {
  try {
    contextOf(texts);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return '';
}
const encrypted = (type: 'pkcs8' | 'sec1') =>
  createPrivateKey(pair.key).export({ type, format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' }).toString();
const derOf = (cert: string) => new X509Certificate(cert).raw.toString('utf8');

describe('valid credentials', () => {
  test('may have other text around certificates and key, and any line endings', () => {
    const one = `${pair.cert}${pair.key}`;
    for (const texts of [
      {},
      { ca },
      { ca, ...pair },
      { ca: `# own\n${ca}${other.cert}`, cert: one, key: one },
      { cert: `${pair.cert}${ca}`.replaceAll('\n', '\r\n'), key: pair.key.replaceAll('\n', '\r\n') },
      {
        cert: pair.cert,
        key: `-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n${pair.key}`,
      },
    ])
      expect(contextOf(texts).problems(Date.now())).toEqual([]);
  });

  test('may be a bundle with one valid certificate, and the invalid ones are reported', () => {
    expect(contextOf({ ca: `${BROKEN}${ca}` }).problems(Date.now())).toEqual([
      'CA: 1 of 2 certificates cannot be read',
    ]);
  });

  test('may be a certificate that has expired or is not valid yet, which is reported because the clock may be wrong', () => {
    const { problems } = contextOf(pair);
    const { validTo, validFrom } = new X509Certificate(pair.cert);
    expect(problems(Date.now() + 365 * DAY_MS)).toEqual([
      `CERT: the certificate expired on ${new Date(validTo).toISOString()}`,
    ]);
    expect(problems(0)).toEqual([`CERT: the certificate is not valid before ${new Date(validFrom).toISOString()}`]);
  });
});

describe('invalid credentials are reported in one sentence without their content', () => {
  test('in a bundle of authorities', () => {
    expect(errorOf({ ca: BROKEN })).toBe('CA: expected certificates in PEM, got one that cannot be read');
    expect(errorOf({ ca: pair.key })).toBe('CA: expected certificates in PEM, got PEM of PRIVATE KEY');
    expect(errorOf({ ca: '' })).toBe('CA: expected certificates in PEM, got nothing');
    expect(errorOf({ ca: derOf(ca) })).toMatch(/^CA: expected certificates in PEM, got binary data \(DER/);
  });

  test('in a certificate', () => {
    expect(errorOf({ ...pair, cert: BROKEN })).toBe('CERT: expected a certificate in PEM, got one that cannot be read');
    expect(errorOf({ ...pair, cert: pair.key })).toBe('CERT: expected a certificate in PEM, got PEM of PRIVATE KEY');
    expect(errorOf({ ...pair, cert: '<html>' })).toBe(
      'CERT: expected a certificate in PEM, got text without a PEM block',
    );
    expect(errorOf({ ...pair, cert: derOf(pair.cert) })).toMatch(
      /^CERT: expected a certificate in PEM, got binary data/,
    );
  });

  test('in a key', () => {
    expect(errorOf({ ...pair, key: BROKEN_KEY })).toBe(
      'KEY: expected a private key in PEM, got one that cannot be read',
    );
    expect(errorOf({ ...pair, key: pair.cert })).toBe('KEY: expected a private key in PEM, got PEM of CERTIFICATE');
    expect(errorOf({ ...pair, key: other.key })).toBe(
      'KEY: expected the key of the client-certificate, got the key of a different certificate',
    );
    for (const type of ['pkcs8', 'sec1'] as const)
      expect(errorOf({ ...pair, key: encrypted(type) })).toBe(
        'KEY: expected a private key without a passphrase, got an encrypted one',
      );
    const { publicKey } = generateKeyPairSync('ed25519');
    const shared = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    expect(errorOf({ ...pair, key: shared })).toBe('KEY: expected a private key in PEM, got PEM of PUBLIC KEY');
  });
});
