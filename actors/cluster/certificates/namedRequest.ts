/**
 * Requests for certificates with a name of their own, by which an agent finds what one before it has asked for. Loaded late,
 * as what makes requests.
 */
import { createHash, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { CertificationRequest, type CertificationRequestInfo } from '@peculiar/asn1-csr';
import { AsnConvert } from '@peculiar/asn1-schema';
import type { Name } from '@peculiar/asn1-x509';
import * as z from 'zod/mini';
import { parsePemBlocks } from '../../../kubeclient/pemBlocks.ts';
import { subjectOf, type Wanted } from './signingRequest.ts';

/** Whose certificate it is, by which key, and for what. */
export interface NamedRequest {
  readonly wanted: Pick<Wanted, 'commonName' | 'organization'>;
  readonly publicKey: KeyObject;
  readonly signerName: string;
  readonly usages: readonly string[];
}

const SPKI = { format: 'der', type: 'spki' } as const;

/** No part of what is digested has it: no two requests come to the same text. */
const DELIMITER = '|';

/** As a kubelet calls it (`digestedName` in `pkg/kubelet/certificate/bootstrap/bootstrap.go`). */
export function digestedName({ wanted, publicKey, usages }: Omit<NamedRequest, 'signerName'>): string {
  const hash = createHash('sha512-256');
  const parts = [publicKey.export(SPKI), wanted.commonName, wanted.organization, ...usages];
  for (const part of parts) hash.update(Buffer.from(part).toString('base64url') + DELIMITER);
  return `node-csr-${hash.digest('base64url')}`;
}

const foundSchema = z.object({
  spec: z.object({ request: z.string(), signerName: z.string() }),
  status: z.optional(z.object({ certificate: z.optional(z.string()) })),
});

/**
 * Why what the API server has by that name is not what was asked for, in a few words; undefined where it is. A certificate
 * that it has already must still be good at `now` (`ensureCompatible` in `util/certificate/csr/csr.go` of client-go).
 */
export function whyOther(named: NamedRequest, found: unknown, now: number): string | undefined {
  const read = z.safeParse(foundSchema, found);
  if (!read.success) return 'it cannot be read';
  const { spec, status } = read.data;
  if (spec.signerName !== named.signerName) return 'it is for another signer';
  try {
    const { subject, subjectPKInfo } = requestIn(spec.request);
    if (subjectText(subject) !== subjectText(subjectOf(named.wanted))) return 'it is for somebody else';
    const asked = createPublicKey({ key: Buffer.from(AsnConvert.serialize(subjectPKInfo)), ...SPKI });
    // `equals` of keys of two kinds leaves an error behind, which the next call that reads a key would throw.
    if (!asked.export(SPKI).equals(named.publicKey.export(SPKI))) return 'it is for another key';
    const ends = parsePemBlocks(decoded(status?.certificate ?? '')).map(
      ({ pem }) => new X509Certificate(pem).validToDate,
    );
    return ends.some((end) => end.getTime() <= now) ? 'its certificate has expired' : undefined;
  } catch {
    return 'it cannot be read';
  }
}

const decoded = (base64: string): string => Buffer.from(base64, 'base64').toString();

function requestIn(base64: string): CertificationRequestInfo {
  const [block] = parsePemBlocks(decoded(base64)).filter(({ label }) => label === 'CERTIFICATE REQUEST');
  const body = block?.pem.split('\n').slice(1, -2).join('') ?? '';
  return AsnConvert.parse(Buffer.from(body, 'base64'), CertificationRequest).certificationRequestInfo;
}

/** Go writes other kinds of strings: their text counts. */
const subjectText = (subject: Name): string =>
  [...subject].flatMap((part) => [...part].map(({ type, value }) => `${type}=${value}`)).join('\n');
