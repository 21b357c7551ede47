/** Tests that OpenSSL knows the TLS names in Kubernetes configurations. */
import { createSecureContext } from 'node:tls';
import { expect, test } from '@jest/globals';
import { toTlsOptions, unknownCurves, unknownSuites } from '../../../kubelet-api/listener/tlsNames.ts';
import { CIPHER_SUITES } from '../../../node/config/fields/cipherSuites.ts';
import { TLS } from './support/listening.ts';

test('the defaults are TLS 1.2 and cipher suites with forward secrecy', () => {
  const { minVersion, ciphers = '', ecdhCurve } = toTlsOptions(TLS);
  expect([minVersion, ecdhCurve]).toEqual(['TLSv1.2', undefined]);
  expect(ciphers.split(':').filter((each) => !/^(ECDHE-|TLS_)/.test(each))).toEqual([]);
});

test('each cipher suite of a kubelet is supported by OpenSSL, or reported as unknown', () => {
  const unknown = unknownSuites(CIPHER_SUITES);
  expect(unknown.filter((name) => !/RC4|3DES/.test(name))).toEqual([]);
  for (const name of CIPHER_SUITES.filter((each) => !unknown.includes(each)))
    expect(() => createSecureContext(toTlsOptions({ ...TLS, cipherSuites: [name] }))).not.toThrow();
  const only = toTlsOptions({ ...TLS, cipherSuites: ['TLS_RSA_WITH_AES_128_GCM_SHA256'] }).ciphers;
  expect(only?.split(':').filter((each) => !each.startsWith('TLS_'))).toEqual(['AES128-GCM-SHA256']);
});

test('curves are configured by their IANA numbers', () => {
  expect(toTlsOptions({ ...TLS, curves: [29, 23] }).ecdhCurve).toBe('X25519:P-256');
  expect(() => createSecureContext(toTlsOptions({ ...TLS, curves: [4587, 4588, 4589, 24, 25] }))).not.toThrow();
  expect(unknownCurves([29, 7])).toEqual([7]);
});

test('an older TLS version can be configured', () => {
  expect(toTlsOptions({ ...TLS, minVersion: 'VersionTLS10' })).toMatchObject({ minVersion: 'TLSv1' });
  expect(toTlsOptions({ ...TLS, minVersion: 'VersionTLS11' }).ciphers).toMatch(/:@SECLEVEL=0$/);
});
