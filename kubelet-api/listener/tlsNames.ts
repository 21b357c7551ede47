/** Converts TLS settings from the format of Kubernetes configurations to OpenSSL's. */
import { constants } from 'node:crypto';
import type { SecureContextOptions, SecureVersion } from 'node:tls';

const TLS_VERSIONS: ReadonlyMap<string, SecureVersion> = new Map([
  ['VersionTLS10', 'TLSv1'],
  ['VersionTLS11', 'TLSv1.1'],
  ['VersionTLS12', 'TLSv1.2'],
  ['VersionTLS13', 'TLSv1.3'],
]);

/** The cipher suites of TLS 1.3, which cannot be configured. */
const TLS13_SUITES = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];

/** Go's cipher suites that OpenSSL supports, with OpenSSL's names. */
const CIPHER_SUITES: ReadonlyMap<string, string> = new Map([
  ['TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256', 'ECDHE-ECDSA-AES128-GCM-SHA256'],
  ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
  ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384', 'ECDHE-ECDSA-AES256-GCM-SHA384'],
  ['TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
  ['TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
  ['TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
  ['TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256', 'ECDHE-RSA-CHACHA20-POLY1305'],
  ['TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305'],
  ['TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA', 'ECDHE-ECDSA-AES128-SHA'],
  ['TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA', 'ECDHE-RSA-AES128-SHA'],
  ['TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA', 'ECDHE-ECDSA-AES256-SHA'],
  ['TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA', 'ECDHE-RSA-AES256-SHA'],
  ['TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256', 'ECDHE-ECDSA-AES128-SHA256'],
  ['TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256', 'ECDHE-RSA-AES128-SHA256'],
  ['TLS_RSA_WITH_AES_128_GCM_SHA256', 'AES128-GCM-SHA256'],
  ['TLS_RSA_WITH_AES_256_GCM_SHA384', 'AES256-GCM-SHA384'],
  ['TLS_RSA_WITH_AES_128_CBC_SHA256', 'AES128-SHA256'],
  ['TLS_RSA_WITH_AES_128_CBC_SHA', 'AES128-SHA'],
  ['TLS_RSA_WITH_AES_256_CBC_SHA', 'AES256-SHA'],
]);

/** Go's default cipher suites, all of which have forward secrecy. */
const DEFAULT_SUITES = [...CIPHER_SUITES.keys()].filter(
  (name) => name.startsWith('TLS_ECDHE') && !name.endsWith('CBC_SHA256'),
);

/** OpenSSL's names of the curves, keyed by the IANA numbers that Go uses. */
const CURVES: ReadonlyMap<number, string> = new Map([
  [23, 'P-256'],
  [24, 'P-384'],
  [25, 'P-521'],
  [29, 'X25519'],
  [4587, 'SecP256r1MLKEM768'],
  [4588, 'X25519MLKEM768'],
  [4589, 'SecP384r1MLKEM1024'],
]);

export interface TlsSettings {
  /** Minimum TLS version. Empty selects TLS 1.2. */
  readonly minVersion: string;
  /**
   * IANA names of cipher suites. Empty selects the suites with forward secrecy. Suites of TLS 1.3 are always enabled.
   */
  readonly cipherSuites: readonly string[];
  /** IANA numbers of curves. Empty selects OpenSSL's defaults. */
  readonly curves: readonly number[];
}

type TlsOptions = Pick<
  SecureContextOptions,
  'minVersion' | 'ciphers' | 'ecdhCurve' | 'honorCipherOrder' | 'secureOptions'
>;

export function toTlsOptions({ minVersion, cipherSuites, curves }: TlsSettings): TlsOptions {
  const suiteNames = cipherSuites.length > 0 ? cipherSuites : DEFAULT_SUITES;
  const opensslSuites = suiteNames.flatMap((name) => CIPHER_SUITES.get(name) ?? []);
  const version = TLS_VERSIONS.get(minVersion) ?? 'TLSv1.2';
  // Lower the security level if the user selects an obsolete version, because OpenSSL offers these versions only at
  // level 0.
  const securityLevel = version === 'TLSv1' || version === 'TLSv1.1' ? ['@SECLEVEL=0'] : [];
  const curveNames = curves.flatMap((each) => CURVES.get(each) ?? []);
  return {
    minVersion: version,
    honorCipherOrder: true,
    ciphers: [...TLS13_SUITES, ...new Set(opensslSuites), ...securityLevel].join(':'),
    // Forbid renegotiation, because Go's server never renegotiates either (`handleRenegotiation` in
    // `crypto/tls/conn.go`).
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    ...(curveNames.length > 0 ? { ecdhCurve: curveNames.join(':') } : {}),
  };
}

/** Returns the cipher suites that this OpenSSL does not support. */
export const unknownSuites = (names: readonly string[]): string[] =>
  names.filter((name) => !CIPHER_SUITES.has(name) && !TLS13_SUITES.includes(name));

export const unknownCurves = (numbers: readonly number[]): number[] => numbers.filter((each) => !CURVES.has(each));
