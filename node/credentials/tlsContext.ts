/** Makes of certificates and a key what TLS uses, or says in one sentence what is wrong with which of them. */
import { constants, createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import { messageOf } from '../../base/failure.ts';
import { describeContents, type PemBlock, parsePemBlocks } from '../../kubeclient/pemBlocks.ts';

/** A text, and where it comes from: "client-key: /run/node.key". */
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
  /** Until when the certificate that is shown is good, in milliseconds since the epoch; undefined: none is shown. */
  readonly end: number | undefined;
  /** What is doubtful of it at a time, in milliseconds since the epoch, though it can be used. */
  doubts(now: number): readonly string[];
}

/** Throws what is wrong, after its place; what the texts say is never repeated. */
export function tlsContext({ ca, cert, key }: Pems): TlsContext {
  const trusted = ca && trustedOf(ca);
  const shown = cert && key && identityOf(cert, key);
  const used = { ...(trusted && { ca: [...trusted.certs] }), ...(shown && { cert: shown.cert, key: shown.key }) };
  const doubts = (now: number) => [
    ...(trusted?.doubts ?? []),
    ...(cert && shown ? doubtsOf(cert, shown.leaf, now) : []),
  ];
  try {
    // Go's client never renegotiates (`RenegotiateNever` in `crypto/tls/common.go`).
    const secureOptions = constants.SSL_OP_NO_RENEGOTIATION;
    return {
      context: createSecureContext({ ...used, secureOptions }),
      end: shown?.leaf.validToDate.getTime(),
      doubts,
    };
  } catch (cause) {
    throw new Error(`${(cert ?? ca)?.place ?? 'TLS'}: cannot be used for TLS: ${reasonOf(cause)}`, { cause });
  }
}

/** As client-go: those that can be read are trusted, if there are any. */
function trustedOf({ text, place }: Pem): { readonly certs: readonly string[]; readonly doubts: readonly string[] } {
  const blocks = certificatesIn(text);
  const certs = blocks.filter((block) => certificateIn(block) !== undefined).map((block) => block.pem);
  if (certs.length === 0)
    throw new Error(`${place}: expected certificates in PEM, got ${notRead(blocks) ?? describeContents(text)}`);
  const lost = blocks.length - certs.length;
  return { certs, doubts: lost > 0 ? [`${place}: ${lost} of ${blocks.length} certificates cannot be read`] : [] };
}

interface Identity {
  readonly cert: string;
  readonly key: string;
  readonly leaf: X509Certificate;
}

/** The certificate, with those after it that lead to an authority, and its key: one file may have both. */
function identityOf(cert: Pem, key: Pem): Identity {
  const chain = certificatesIn(cert.text);
  const leaf = chain[0] && certificateIn(chain[0]);
  if (leaf === undefined)
    throw new Error(
      `${cert.place}: expected a certificate in PEM, got ${notRead(chain) ?? describeContents(cert.text)}`,
    );
  const secret = parsePemBlocks(key.text).find(({ label }) => label.endsWith('PRIVATE KEY'));
  if (secret !== undefined && isEncrypted(secret))
    throw new Error(`${key.place}: expected a private key without a passphrase, got an encrypted one`);
  const read = secret && privateKeyIn(secret);
  if (secret === undefined || read === undefined) {
    const got = secret === undefined ? describeContents(key.text) : 'one that cannot be read';
    throw new Error(`${key.place}: expected a private key in PEM, got ${got}`);
  }
  if (!leaf.checkPrivateKey(read))
    throw new Error(`${key.place}: expected the key of the client-certificate, got that of another`);
  return { cert: chain.map(({ pem }) => pem).join(''), key: secret.pem, leaf };
}

/** An API server takes whoever shows it for nobody, and says no more than that. */
function doubtsOf({ place }: Pem, { validFromDate, validToDate }: X509Certificate, now: number): string[] {
  if (validToDate.getTime() < now) return [`${place}: the certificate has expired on ${validToDate.toISOString()}`];
  if (validFromDate.getTime() <= now) return [];
  return [`${place}: the certificate is not valid before ${validFromDate.toISOString()}`];
}

const certificatesIn = (text: string): PemBlock[] =>
  parsePemBlocks(text).filter(({ label }) => label === 'CERTIFICATE');
const notRead = (blocks: readonly PemBlock[]): string | undefined =>
  blocks.length > 0 ? 'one that cannot be read' : undefined;
const isEncrypted = ({ label, pem }: PemBlock): boolean =>
  label.startsWith('ENCRYPTED') || /^Proc-Type: *4,ENCRYPTED$/m.test(pem);

function certificateIn({ pem }: PemBlock): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

function privateKeyIn({ pem }: PemBlock) {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

/** OpenSSL's own word for it, without the places in its source. */
const reasonOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'reason' in error ? String(error.reason) : messageOf(error);
