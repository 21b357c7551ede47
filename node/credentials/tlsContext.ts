import { constants, createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import { messageOf } from '../../base/failure.ts';
import { describeContents, type PemBlock, parsePemBlocks } from '../../kubeclient/pemBlocks.ts';

/** PEM data with its origin for error messages, e.g. "client-key: /run/node.key". */
export interface Pem {
  readonly text: string;
  readonly place: string;
}

export interface Pems {
  readonly ca?: Pem | undefined;
  readonly cert?: Pem | undefined;
  readonly key?: Pem | undefined;
}

export interface TlsContext {
  readonly context: SecureContext;
  /** Expiry of the client certificate in milliseconds since the epoch. Undefined without a client certificate. */
  readonly expiresAt: number | undefined;
  /**
   * Returns problems of the certificates at a time in milliseconds since the epoch. The context can be used
   * nevertheless.
   */
  problems(now: number): readonly string[];
}

/**
 * Creates a TLS context. Throws an error that starts with the origin of the invalid data and does not contain the data.
 */
export function tlsContext({ ca, cert, key }: Pems): TlsContext {
  const authorities = ca && parseAuthorities(ca);
  const identity = cert && key && parseIdentity(cert, key);
  const options = {
    ...(authorities && { ca: [...authorities.certs] }),
    ...(identity && { cert: identity.cert, key: identity.key }),
  };
  const problems = (now: number) => [
    ...(authorities?.problems ?? []),
    ...(cert && identity ? validityProblems(cert, identity.leaf, now) : []),
  ];
  try {
    // Go's client never renegotiates (`RenegotiateNever` in `crypto/tls/common.go`).
    const secureOptions = constants.SSL_OP_NO_RENEGOTIATION;
    return {
      context: createSecureContext({ ...options, secureOptions }),
      expiresAt: identity?.leaf.validToDate.getTime(),
      problems,
    };
  } catch (cause) {
    throw new Error(`${(cert ?? ca)?.place ?? 'TLS'}: cannot be used for TLS: ${reasonOf(cause)}`, { cause });
  }
}

/** Parses certificate authorities. As in client-go, unreadable ones are ignored if at least one is readable. */
function parseAuthorities({ text, place }: Pem): {
  readonly certs: readonly string[];
  readonly problems: readonly string[];
} {
  const blocks = certificatesIn(text);
  const certs = blocks.filter((block) => parseCertificate(block) !== undefined).map((block) => block.pem);
  if (certs.length === 0)
    throw new Error(
      `${place}: expected certificates in PEM, got ${describeUnreadable(blocks) ?? describeContents(text)}`,
    );
  const unreadable = blocks.length - certs.length;
  return {
    certs,
    problems: unreadable > 0 ? [`${place}: ${unreadable} of ${blocks.length} certificates cannot be read`] : [],
  };
}

interface Identity {
  readonly cert: string;
  readonly key: string;
  readonly leaf: X509Certificate;
}

/** Parses a certificate chain and its private key, which may be in the same file. */
function parseIdentity(cert: Pem, key: Pem): Identity {
  const chain = certificatesIn(cert.text);
  const leaf = chain[0] && parseCertificate(chain[0]);
  if (leaf === undefined)
    throw new Error(
      `${cert.place}: expected a certificate in PEM, got ${describeUnreadable(chain) ?? describeContents(cert.text)}`,
    );
  const secret = parsePemBlocks(key.text).find(({ label }) => label.endsWith('PRIVATE KEY'));
  if (secret !== undefined && isEncrypted(secret))
    throw new Error(`${key.place}: expected a private key without a passphrase, got an encrypted one`);
  const privateKey = secret && parsePrivateKey(secret);
  if (secret === undefined || privateKey === undefined) {
    const got = secret === undefined ? describeContents(key.text) : 'one that cannot be read';
    throw new Error(`${key.place}: expected a private key in PEM, got ${got}`);
  }
  if (!leaf.checkPrivateKey(privateKey))
    throw new Error(`${key.place}: expected the key of the client-certificate, got the key of a different certificate`);
  return { cert: chain.map(({ pem }) => pem).join(''), key: secret.pem, leaf };
}

/** Returns why a certificate is currently not valid. The API server would report only that the request is anonymous. */
function validityProblems({ place }: Pem, { validFromDate, validToDate }: X509Certificate, now: number): string[] {
  if (validToDate.getTime() < now) return [`${place}: the certificate expired on ${validToDate.toISOString()}`];
  if (validFromDate.getTime() <= now) return [];
  return [`${place}: the certificate is not valid before ${validFromDate.toISOString()}`];
}

const certificatesIn = (text: string): PemBlock[] =>
  parsePemBlocks(text).filter(({ label }) => label === 'CERTIFICATE');
const describeUnreadable = (blocks: readonly PemBlock[]): string | undefined =>
  blocks.length > 0 ? 'one that cannot be read' : undefined;
const isEncrypted = ({ label, pem }: PemBlock): boolean =>
  label.startsWith('ENCRYPTED') || /^Proc-Type: *4,ENCRYPTED$/m.test(pem);

function parseCertificate({ pem }: PemBlock): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

function parsePrivateKey({ pem }: PemBlock) {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

/** Returns OpenSSL's reason for an error without the position in its source code. */
const reasonOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'reason' in error ? String(error.reason) : messageOf(error);
