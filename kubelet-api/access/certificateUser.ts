/** Extracts the user from a client certificate (`CommonNameUserConversion` in `request/x509/x509.go` of apiserver). */
import { createHash } from 'node:crypto';
import { AsnConvert } from '@peculiar/asn1-schema';
import { Certificate } from '@peculiar/asn1-x509';
import type { Caller } from '../exchange.ts';

const COMMON_NAME_OID = '2.5.4.3';
const ORGANIZATION_OID = '2.5.4.10';
/**
 * OID of the subject attribute that contains the user's UID, as assigned by Kubernetes (`X509UID` in
 * `pkg/apis/asn1/oid.go` of apimachinery).
 */
const UID_OID = '1.3.6.1.4.1.57683.2';

/**
 * Returns the user that the certificate `der` identifies, or undefined if the certificate has no common name. Throws if
 * the certificate contains an invalid UID.
 */
export function parseCertificateUser(der: Buffer): Caller | undefined {
  const { subject } = AsnConvert.parse(der, Certificate).tbsCertificate;
  const subjectAttributes = subject
    .flatMap((part) => [...part])
    .map(({ type, value }) => [type, value.toString()] as const);
  const getAttributeValues = (attributeOid: string) =>
    subjectAttributes.filter(([type]) => type === attributeOid).map(([, value]) => value);
  const name = getAttributeValues(COMMON_NAME_OID).at(-1) ?? '';
  if (name === '') return undefined;
  const credentialId = `X509SHA256=${createHash('sha256').update(der).digest('hex')}`;
  const user = {
    name,
    groups: getAttributeValues(ORGANIZATION_OID),
    extra: new Map([['authentication.kubernetes.io/credential-id', [credentialId]]]),
  };
  const [uid, ...more] = getAttributeValues(UID_OID);
  if (uid === undefined) return user;
  if (uid === '' || more.length > 0) throw new Error('the certificate has an empty UID, or more than one');
  return { ...user, uid };
}
