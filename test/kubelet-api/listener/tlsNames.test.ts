/** The names of Kubernetes' configurations in OpenSSL. */
import { createSecureContext } from 'node:tls';
import { expect, test } from '@jest/globals';
import { toTlsOptions, unknownCurves, unknownSuites } from '../../../kubelet-api/listener/tlsNames.ts';
import { CIPHER_SUITES } from '../../../node/config/fields/cipherSuites.ts';
import { TLS } from './support/listening.ts';

test('unless anything is named, TLS 1.2 and suites with forward secrecy', () => {
  const { minVersion, ciphers = '', ecdhCurve } = toTlsOptions(TLS);
  expect([minVersion, ecdhCurve]).toEqual(['TLSv1.2', undefined]);
  expect(ciphers.split(':').filter((each) => !/^(ECDHE-|TLS_)/.test(each))).toEqual([]);
});

test('each suite that a kubelet knows is one of OpenSSL, or is told as unknown', () => {
  const unknown = unknownSuites(CIPHER_SUITES);
  expect(unknown.filter((name) => !/RC4|3DES/.test(name))).toEqual([]);
  for (const name of CIPHER_SUITES.filter((each) => !unknown.includes(each)))
    expect(() => createSecureContext(toTlsOptions({ ...TLS, cipherSuites: [name] }))).not.toThrow();
  const only = toTlsOptions({ ...TLS, cipherSuites: ['TLS_RSA_WITH_AES_128_GCM_SHA256'] }).ciphers;
  expect(only?.split(':').filter((each) => !each.startsWith('TLS_'))).toEqual(['AES128-GCM-SHA256']);
});

test('curves go by the numbers of IANA', () => {
  expect(toTlsOptions({ ...TLS, curves: [29, 23] }).ecdhCurve).toBe('X25519:P-256');
  expect(() => createSecureContext(toTlsOptions({ ...TLS, curves: [4587, 4588, 4589, 24, 25] }))).not.toThrow();
  expect(unknownCurves([29, 7])).toEqual([7]);
});

test('whoever asks for an older version gets it', () => {
  expect(toTlsOptions({ ...TLS, minVersion: 'VersionTLS10' })).toMatchObject({ minVersion: 'TLSv1' });
  expect(toTlsOptions({ ...TLS, minVersion: 'VersionTLS11' }).ciphers).toMatch(/:@SECLEVEL=0$/);
});
