/**
 * Creates a self-signed serving certificate like the kubelet (`GenerateSelfSignedCertKey` in `util/cert/cert.go` of
 * client-go). Imported on demand, because only a node without any other certificate needs this module, and only once.
 */
import { createPublicKey, generateKeyPair, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';
import { promisify } from 'node:util';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_kp_serverAuth,
  KeyUsage,
  KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509';
import { pem } from '../../actors/cluster/certificates/pem.ts';

interface SelfSigned {
  /** The certificate, followed by the certificate of the authority that was created for it. Both are in PEM. */
  readonly certificate: string;
  /** The private key in PEM. Secret. */
  readonly key: string;
}

const RSA_WITH_SHA256 = '1.2.840.113549.1.1.11';
const COMMON_NAME = '2.5.4.3';
const RSA_BITS = 2048;
const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

const newKeys = promisify(generateKeyPair);

/** Creates a certificate for `names`, which are DNS names or IP addresses. The first one is the node's name. */
export async function selfSigned(names: readonly string[], now: number): Promise<SelfSigned> {
  const [authority, own] = await Promise.all([newKey(), newKey()]);
  const stamp = Math.floor(now / 1_000);
  const [host = ''] = names;
  const issuer = nameOf(`${host}-ca@${stamp}`);
  const common = { issuer, signer: authority, notBefore: now - HOUR_MS, notAfter: now + YEAR_MS };
  const root = certificateOf({ ...common, subject: issuer, key: authority, extensions: authorityExtensions() });
  const subject = nameOf(`${host}@${stamp}`);
  const leaf = certificateOf({ ...common, subject, key: own, extensions: servingExtensions(names) });
  return { certificate: leaf + root, key: String(own.export({ type: 'pkcs1', format: 'pem' })) };
}

const newKey = async (): Promise<KeyObject> => (await newKeys('rsa', { modulusLength: RSA_BITS })).privateKey;

interface Described {
  readonly issuer: Name;
  readonly subject: Name;
  readonly key: KeyObject;
  readonly signer: KeyObject;
  readonly notBefore: number;
  readonly notAfter: number;
  readonly extensions: Extensions;
}

function certificateOf({ issuer, subject, key, signer, notBefore, notAfter, extensions }: Described): string {
  const algorithm = new AlgorithmIdentifier({ algorithm: RSA_WITH_SHA256, parameters: null });
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const signed = new TBSCertificate({
    version: Version.v3,
    serialNumber: serialNumber(),
    signature: algorithm,
    issuer,
    subject,
    extensions,
    validity: new Validity({ notBefore: timeOf(notBefore), notAfter: timeOf(notAfter) }),
    subjectPublicKeyInfo: AsnConvert.parse(spki, SubjectPublicKeyInfo),
  });
  const signature = sign('sha256', Buffer.from(AsnConvert.serialize(signed)), signer);
  const certificate = new Certificate({
    tbsCertificate: signed,
    signatureAlgorithm: algorithm,
    signatureValue: new Uint8Array(signature).buffer,
  });
  return pem('CERTIFICATE', Buffer.from(AsnConvert.serialize(certificate)));
}

/** Returns a random positive number. */
function serialNumber(): ArrayBuffer {
  const bytes = Uint8Array.from(randomBytes(16));
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes.buffer;
}

/** Rounds down to a second, which is the resolution of certificates. */
const timeOf = (ms: number): Date => new Date(Math.floor(ms / 1_000) * 1_000);

const nameOf = (commonName: string): Name =>
  new Name([
    new RelativeDistinguishedName([
      new AttributeTypeAndValue({ type: COMMON_NAME, value: new AttributeValue({ utf8String: commonName }) }),
    ]),
  ]);

const extension = (extnID: string, critical: boolean, value: object): Extension =>
  new Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });

const usage = (...flags: readonly KeyUsageFlags[]): Extension =>
  extension(id_ce_keyUsage, true, new KeyUsage(flags.reduce<number>((all, each) => all | each, 0)));

const authorityExtensions = (): Extensions =>
  new Extensions([
    usage(KeyUsageFlags.digitalSignature, KeyUsageFlags.keyEncipherment, KeyUsageFlags.keyCertSign),
    extension(id_ce_basicConstraints, true, new BasicConstraints({ cA: true })),
  ]);

function servingExtensions(names: readonly string[]): Extensions {
  const alternatives = names.map((name) => new GeneralName(isIP(name) === 0 ? { dNSName: name } : { iPAddress: name }));
  return new Extensions([
    usage(KeyUsageFlags.digitalSignature, KeyUsageFlags.keyEncipherment),
    extension(id_ce_extKeyUsage, false, new ExtendedKeyUsage([id_kp_serverAuth])),
    extension(id_ce_basicConstraints, true, new BasicConstraints({ cA: false })),
    extension(id_ce_subjectAltName, false, new SubjectAlternativeName(alternatives)),
  ]);
}
