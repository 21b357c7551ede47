/** Creates private keys and certificate requests (PKCS#10, RFC 2986). Loaded on demand, because few nodes need it. */
import { createPublicKey, type KeyObject, sign } from 'node:crypto';
import { isIP } from 'node:net';
import { Attributes, CertificationRequest, CertificationRequestInfo } from '@peculiar/asn1-csr';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  Attribute,
  AttributeTypeAndValue,
  AttributeValue,
  Extension,
  Extensions,
  GeneralName,
  id_ce_subjectAltName,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectPublicKeyInfo,
} from '@peculiar/asn1-x509';
import type { AlternativeNames } from '../../../kubernetes/node/alternativeNames.ts';
import { encodePem } from './pem.ts';
import { encodeKey, generateKey } from './requestKey.ts';

export interface RequestedCertificate {
  readonly commonName: string;
  readonly organization: string;
  readonly names: AlternativeNames;
}

/** A certificate request and its private key, both in PEM. The key is secret. */
export interface NewRequest {
  readonly request: string;
  readonly key: string;
}

const COMMON_NAME_OID = '2.5.4.3';
const ORGANIZATION_OID = '2.5.4.10';
const EXTENSION_REQUEST_OID = '1.2.840.113549.1.9.14';
const ECDSA_WITH_SHA256_OID = '1.2.840.10045.4.3.2';
const RSA_WITH_SHA256_OID = '1.2.840.113549.1.1.11';

/** Creates a certificate request. By default, generates a new key for it, as the kubelet does. */
export function createSigningRequest(
  requested: RequestedCertificate,
  privateKey: KeyObject = generateKey(),
): NewRequest {
  const publicKeyDer = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  const requestInfo = new CertificationRequestInfo({
    subject: buildSubject(requested),
    subjectPKInfo: AsnConvert.parse(publicKeyDer, SubjectPublicKeyInfo),
    attributes: buildAttributes(requested.names),
  });
  const signature = sign('sha256', Buffer.from(AsnConvert.serialize(requestInfo)), privateKey);
  const request = new CertificationRequest({
    certificationRequestInfo: requestInfo,
    signatureAlgorithm: signatureAlgorithmFor(privateKey),
    signature: new Uint8Array(signature).buffer,
  });
  return {
    request: encodePem('CERTIFICATE REQUEST', Buffer.from(AsnConvert.serialize(request))),
    key: encodeKey(privateKey),
  };
}

/** Returns the signature algorithm for the given key. RSA requires NULL parameters (RFC 4055). */
const signatureAlgorithmFor = ({ asymmetricKeyType }: KeyObject): AlgorithmIdentifier =>
  asymmetricKeyType === 'rsa'
    ? new AlgorithmIdentifier({ algorithm: RSA_WITH_SHA256_OID, parameters: null })
    : new AlgorithmIdentifier({ algorithm: ECDSA_WITH_SHA256_OID });

/** Builds a subject whose attributes are in the same order as in the kubelet's request. */
export function buildSubject({ commonName, organization }: Omit<RequestedCertificate, 'names'>): Name {
  const createAttribute = (type: string, utf8String: string) =>
    new RelativeDistinguishedName([new AttributeTypeAndValue({ type, value: new AttributeValue({ utf8String }) })]);
  return new Name([createAttribute(ORGANIZATION_OID, organization), createAttribute(COMMON_NAME_OID, commonName)]);
}

function buildAttributes({ dnsNames, ips }: AlternativeNames): Attributes {
  const names = [
    ...dnsNames.map((dNSName) => new GeneralName({ dNSName })),
    ...ips.filter((ip) => isIP(ip) !== 0).map((iPAddress) => new GeneralName({ iPAddress })),
  ];
  if (names.length === 0) return new Attributes();
  const extnValue = new OctetString(AsnConvert.serialize(new SubjectAlternativeName(names)));
  const extensions = new Extensions([new Extension({ extnID: id_ce_subjectAltName, extnValue })]);
  return new Attributes([new Attribute({ type: EXTENSION_REQUEST_OID, values: [AsnConvert.serialize(extensions)] })]);
}
