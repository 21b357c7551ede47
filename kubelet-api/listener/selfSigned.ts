/**
 * Creates a self-signed serving certificate as the kubelet does (`GenerateSelfSignedCertKey` in `util/cert/cert.go` of
 * client-go). Imported on demand, because only a node without any other certificate needs this module, and only the
 * first time it starts.
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
import { encodePem } from '../../actors/cluster/certificates/pem.ts';

interface SelfSignedCertificate {
  /** The certificate, followed by the certificate of the authority that was created for it. Both are in PEM. */
  readonly certificate: string;
  /** The private key in PEM, which must not be disclosed. */
  readonly key: string;
}

const RSA_WITH_SHA256_OID = '1.2.840.113549.1.1.11';
const COMMON_NAME_OID = '2.5.4.3';
const RSA_BITS = 2048;
const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

const generateKeyPairAsync = promisify(generateKeyPair);

/** Creates a certificate for `names`, which are DNS names or IP addresses. The first one is the node's name. */
export async function createSelfSigned(names: readonly string[], now: number): Promise<SelfSignedCertificate> {
  const [authority, own] = await Promise.all([generateKey(), generateKey()]);
  const unixSeconds = Math.floor(now / 1_000);
  const [host = ''] = names;
  const issuer = createName(`${host}-ca@${unixSeconds}`);
  const commonFields = { issuer, signingKey: authority, notBefore: now - HOUR_MS, notAfter: now + YEAR_MS };
  const authorityPem = createCertificate({
    ...commonFields,
    subject: issuer,
    key: authority,
    extensions: authorityExtensions(),
  });
  const subject = createName(`${host}@${unixSeconds}`);
  const servingPem = createCertificate({ ...commonFields, subject, key: own, extensions: servingExtensions(names) });
  return { certificate: servingPem + authorityPem, key: String(own.export({ type: 'pkcs1', format: 'pem' })) };
}

const generateKey = async (): Promise<KeyObject> =>
  (await generateKeyPairAsync('rsa', { modulusLength: RSA_BITS })).privateKey;

interface CertificateFields {
  readonly issuer: Name;
  readonly subject: Name;
  readonly key: KeyObject;
  readonly signingKey: KeyObject;
  readonly notBefore: number;
  readonly notAfter: number;
  readonly extensions: Extensions;
}

function createCertificate({
  issuer,
  subject,
  key,
  signingKey,
  notBefore,
  notAfter,
  extensions,
}: CertificateFields): string {
  const algorithm = new AlgorithmIdentifier({ algorithm: RSA_WITH_SHA256_OID, parameters: null });
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    serialNumber: createSerialNumber(),
    signature: algorithm,
    issuer,
    subject,
    extensions,
    validity: new Validity({ notBefore: toCertificateDate(notBefore), notAfter: toCertificateDate(notAfter) }),
    subjectPublicKeyInfo: AsnConvert.parse(spki, SubjectPublicKeyInfo),
  });
  const signature = sign('sha256', Buffer.from(AsnConvert.serialize(tbsCertificate)), signingKey);
  const certificate = new Certificate({
    tbsCertificate,
    signatureAlgorithm: algorithm,
    signatureValue: new Uint8Array(signature).buffer,
  });
  return encodePem('CERTIFICATE', Buffer.from(AsnConvert.serialize(certificate)));
}

/** Returns a random positive number. */
function createSerialNumber(): ArrayBuffer {
  const bytes = Uint8Array.from(randomBytes(16));
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes.buffer;
}

/** Rounds a time down to a whole second, because certificates have a resolution of one second. */
const toCertificateDate = (ms: number): Date => new Date(Math.floor(ms / 1_000) * 1_000);

const createName = (commonName: string): Name =>
  new Name([
    new RelativeDistinguishedName([
      new AttributeTypeAndValue({ type: COMMON_NAME_OID, value: new AttributeValue({ utf8String: commonName }) }),
    ]),
  ]);

const createExtension = (extnID: string, critical: boolean, value: object): Extension =>
  new Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });

const createKeyUsage = (...flags: readonly KeyUsageFlags[]): Extension =>
  createExtension(id_ce_keyUsage, true, new KeyUsage(flags.reduce<number>((combined, each) => combined | each, 0)));

const authorityExtensions = (): Extensions =>
  new Extensions([
    createKeyUsage(KeyUsageFlags.digitalSignature, KeyUsageFlags.keyEncipherment, KeyUsageFlags.keyCertSign),
    createExtension(id_ce_basicConstraints, true, new BasicConstraints({ cA: true })),
  ]);

function servingExtensions(names: readonly string[]): Extensions {
  const subjectAltNames = names.map(
    (name) => new GeneralName(isIP(name) === 0 ? { dNSName: name } : { iPAddress: name }),
  );
  return new Extensions([
    createKeyUsage(KeyUsageFlags.digitalSignature, KeyUsageFlags.keyEncipherment),
    createExtension(id_ce_extKeyUsage, false, new ExtendedKeyUsage([id_kp_serverAuth])),
    createExtension(id_ce_basicConstraints, true, new BasicConstraints({ cA: false })),
    createExtension(id_ce_subjectAltName, false, new SubjectAlternativeName(subjectAltNames)),
  ]);
}
