/**
 * Names CertificateSigningRequests after their content, so a restarted agent finds the request of its predecessor.
 * Loaded on demand, because this module imports ASN.1 packages.
 */
import { createHash, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { CertificationRequest, type CertificationRequestInfo } from '@peculiar/asn1-csr';
import { AsnConvert } from '@peculiar/asn1-schema';
import type { Name } from '@peculiar/asn1-x509';
import * as z from 'zod/mini';
import { parsePemBlocks } from '../../../kubeclient/pemBlocks.ts';
import { buildSubject, type RequestedCertificate } from './signingRequest.ts';

/** The properties of a request that determine its name. */
export interface NamedRequest {
  readonly certificate: Pick<RequestedCertificate, 'commonName' | 'organization'>;
  readonly publicKey: KeyObject;
  readonly signerName: string;
  readonly usages: readonly string[];
}

const SPKI_EXPORT = { format: 'der', type: 'spki' } as const;

/** Separates the digested parts. No part contains the delimiter, because the parts are encoded in base64url. */
const DELIMITER = '|';

/**
 * Returns the name that the kubelet would give to this request (`digestedName` in
 * `pkg/kubelet/certificate/bootstrap/bootstrap.go`).
 */
export function digestedName({ certificate, publicKey, usages }: Omit<NamedRequest, 'signerName'>): string {
  const hash = createHash('sha512-256');
  const digestedParts = [publicKey.export(SPKI_EXPORT), certificate.commonName, certificate.organization, ...usages];
  for (const part of digestedParts) hash.update(Buffer.from(part).toString('base64url') + DELIMITER);
  return `node-csr-${hash.digest('base64url')}`;
}

const csrSchema = z.object({
  spec: z.object({ request: z.string(), signerName: z.string() }),
  status: z.optional(z.object({ certificate: z.optional(z.string()) })),
});

/**
 * Returns a short reason why an existing request with the name of `namedRequest` cannot be reused, or undefined if it
 * can. A certificate that was already issued must be valid at `now` (`ensureCompatible` in
 * `util/certificate/csr/csr.go` of client-go).
 */
export function findMismatch(namedRequest: NamedRequest, existing: unknown, now: number): string | undefined {
  const parsedRequest = z.safeParse(csrSchema, existing);
  if (!parsedRequest.success) return 'it cannot be read';
  const { spec, status } = parsedRequest.data;
  if (spec.signerName !== namedRequest.signerName) return 'it is for a different signer';
  try {
    const { subject, subjectPKInfo } = parseRequest(spec.request);
    if (formatSubject(subject) !== formatSubject(buildSubject(namedRequest.certificate)))
      return 'it is for a different subject';
    const existingKey = createPublicKey({ key: Buffer.from(AsnConvert.serialize(subjectPKInfo)), ...SPKI_EXPORT });
    // Compare the encoded keys. `KeyObject.equals` on keys of different types leaves an error in OpenSSL's queue, and
    // the next call that reads a key would throw it.
    if (!existingKey.export(SPKI_EXPORT).equals(namedRequest.publicKey.export(SPKI_EXPORT)))
      return 'it is for a different key';
    const expiryTimes = parsePemBlocks(decodeBase64(status?.certificate ?? '')).map(
      ({ pem }) => new X509Certificate(pem).validToDate,
    );
    return expiryTimes.some((expiry) => expiry.getTime() <= now) ? 'its certificate has expired' : undefined;
  } catch {
    return 'it cannot be read';
  }
}

const decodeBase64 = (base64: string): string => Buffer.from(base64, 'base64').toString();

function parseRequest(base64: string): CertificationRequestInfo {
  const [block] = parsePemBlocks(decodeBase64(base64)).filter(({ label }) => label === 'CERTIFICATE REQUEST');
  const base64Body = block?.pem.split('\n').slice(1, -2).join('') ?? '';
  return AsnConvert.parse(Buffer.from(base64Body, 'base64'), CertificationRequest).certificationRequestInfo;
}

/**
 * Formats a subject for comparison. Only the text of the names is comparable, because Go may encode the same text as a
 * different ASN.1 string type.
 */
const formatSubject = (subject: Name): string =>
  [...subject].flatMap((part) => [...part].map(({ type, value }) => `${type}=${value}`)).join('\n');
