import { constants, createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import { messageOf } from '../../base/failure.ts';
import { describeContents, type PemBlock, parsePemBlocks } from '../../kubeclient/pemBlocks.ts';

/** PEM data with its origin for error messages, e.g. "client-key: /run/node.key". */
export interface Pem {
  readonly text: string;
  readonly errorPrefix: string;
}

export interface PemInputs {
  readonly ca?: Pem | undefined;
  readonly cert?: Pem | undefined;
  readonly key?: Pem | undefined;
}

export interface TlsContext {
  readonly secureContext: SecureContext;
  /** Expiry of the client certificate in milliseconds since the epoch. Undefined without a client certificate. */
  readonly expiresAt: number | undefined;
  /**
   * Returns the problems of the certificates at `now` (milliseconds since the epoch) that do not prevent the use of the
   * context.
   */
  problems(now: number): readonly string[];
}

/**
 * Creates a TLS context. Throws an error that starts with the origin of the invalid data and does not contain the data.
 */
export function tlsContext({ ca, cert, key }: PemInputs): TlsContext {
  const parsedAuthorities = ca && parseAuthorities(ca);
  const clientIdentity = cert && key && parseIdentity(cert, key);
  const options = {
    ...(parsedAuthorities && { ca: [...parsedAuthorities.certificates] }),
    ...(clientIdentity && { cert: clientIdentity.cert, key: clientIdentity.key }),
  };
  const problems = (now: number) => [
    ...(parsedAuthorities?.problems ?? []),
    ...(cert && clientIdentity ? validityProblems(cert, clientIdentity.leafCertificate, now) : []),
  ];
  try {
    // Disable renegotiation, because Go's client never renegotiates (`RenegotiateNever` in `crypto/tls/common.go`).
    const secureOptions = constants.SSL_OP_NO_RENEGOTIATION;
    return {
      secureContext: createSecureContext({ ...options, secureOptions }),
      expiresAt: clientIdentity?.leafCertificate.validToDate.getTime(),
      problems,
    };
  } catch (cause) {
    throw new Error(`${(cert ?? ca)?.errorPrefix ?? 'TLS'}: cannot be used for TLS: ${opensslReason(cause)}`, {
      cause,
    });
  }
}

/**
 * Parses certificate authorities. As in client-go, certificates that cannot be parsed are ignored if at least one can
 * be parsed.
 */
function parseAuthorities({ text: pemText, errorPrefix }: Pem): {
  readonly certificates: readonly string[];
  readonly problems: readonly string[];
} {
  const pemBlocks = parseCertificates(pemText);
  const certificates = pemBlocks.filter((block) => parseCertificate(block) !== undefined).map((block) => block.pem);
  if (certificates.length === 0)
    throw new Error(
      `${errorPrefix}: expected certificates in PEM, got ${describeUnreadable(pemBlocks) ?? describeContents(pemText)}`,
    );
  const unreadableCount = pemBlocks.length - certificates.length;
  return {
    certificates,
    problems:
      unreadableCount > 0
        ? [`${errorPrefix}: ${unreadableCount} of ${pemBlocks.length} certificates cannot be read`]
        : [],
  };
}

interface ClientIdentity {
  readonly cert: string;
  readonly key: string;
  readonly leafCertificate: X509Certificate;
}

/** Parses a certificate chain and its private key, which may be in the same file. */
function parseIdentity(cert: Pem, key: Pem): ClientIdentity {
  const certificateChain = parseCertificates(cert.text);
  const leafCertificate = certificateChain[0] && parseCertificate(certificateChain[0]);
  if (leafCertificate === undefined)
    throw new Error(
      `${cert.errorPrefix}: expected a certificate in PEM, got ${describeUnreadable(certificateChain) ?? describeContents(cert.text)}`,
    );
  const privateKeyBlock = parsePemBlocks(key.text).find(({ label }) => label.endsWith('PRIVATE KEY'));
  if (privateKeyBlock !== undefined && isEncryptedKey(privateKeyBlock))
    throw new Error(`${key.errorPrefix}: expected a private key without a passphrase, got an encrypted one`);
  const privateKey = privateKeyBlock && parsePrivateKey(privateKeyBlock);
  if (privateKeyBlock === undefined || privateKey === undefined) {
    const got = privateKeyBlock === undefined ? describeContents(key.text) : 'one that cannot be read';
    throw new Error(`${key.errorPrefix}: expected a private key in PEM, got ${got}`);
  }
  if (!leafCertificate.checkPrivateKey(privateKey))
    throw new Error(
      `${key.errorPrefix}: expected the key of the client-certificate, got the key of a different certificate`,
    );
  return { cert: certificateChain.map(({ pem }) => pem).join(''), key: privateKeyBlock.pem, leafCertificate };
}

/**
 * Returns the reasons why the certificate is not currently valid. The agent reports them itself, because the API server
 * would only report that the request is anonymous.
 */
function validityProblems(
  { errorPrefix }: Pem,
  { validFromDate, validToDate }: X509Certificate,
  now: number,
): string[] {
  if (validToDate.getTime() < now) return [`${errorPrefix}: the certificate expired on ${validToDate.toISOString()}`];
  if (validFromDate.getTime() <= now) return [];
  return [`${errorPrefix}: the certificate is not valid before ${validFromDate.toISOString()}`];
}

const parseCertificates = (text: string): PemBlock[] =>
  parsePemBlocks(text).filter(({ label }) => label === 'CERTIFICATE');
const describeUnreadable = (blocks: readonly PemBlock[]): string | undefined =>
  blocks.length > 0 ? 'one that cannot be read' : undefined;
const isEncryptedKey = ({ label, pem }: PemBlock): boolean =>
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

/** Returns OpenSSL's reason for an error, without the position in OpenSSL's source code. */
const opensslReason = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'reason' in error ? String(error.reason) : messageOf(error);
