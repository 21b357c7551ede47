/** Makes a key and the request for a certificate for it (PKCS#10, RFC 2986). Loaded late: few nodes need it, and seldom. */
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
import { pem } from './pem.ts';
import { keyText, newKey } from './requestKey.ts';

export interface Wanted {
  readonly commonName: string;
  readonly organization: string;
  readonly names: AlternativeNames;
}

/** Both in PEM; the key is a secret. */
export interface NewRequest {
  readonly request: string;
  readonly key: string;
}

const COMMON_NAME = '2.5.4.3';
const ORGANIZATION = '2.5.4.10';
const REQUESTED_EXTENSIONS = '1.2.840.113549.1.9.14';
const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';
const RSA_WITH_SHA256 = '1.2.840.113549.1.1.11';

/** As a kubelet: a new key each time, unless there is one already. */
export function newSigningRequest(wanted: Wanted, privateKey: KeyObject = newKey()): NewRequest {
  const spki = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  const info = new CertificationRequestInfo({
    subject: subjectOf(wanted),
    subjectPKInfo: AsnConvert.parse(spki, SubjectPublicKeyInfo),
    attributes: attributesOf(wanted.names),
  });
  const signature = sign('sha256', Buffer.from(AsnConvert.serialize(info)), privateKey);
  const request = new CertificationRequest({
    certificationRequestInfo: info,
    signatureAlgorithm: algorithmOf(privateKey),
    signature: new Uint8Array(signature).buffer,
  });
  return {
    request: pem('CERTIFICATE REQUEST', Buffer.from(AsnConvert.serialize(request))),
    key: keyText(privateKey),
  };
}

/** That of RSA has parameters, which are none (RFC 4055). */
const algorithmOf = ({ asymmetricKeyType }: KeyObject): AlgorithmIdentifier =>
  asymmetricKeyType === 'rsa'
    ? new AlgorithmIdentifier({ algorithm: RSA_WITH_SHA256, parameters: null })
    : new AlgorithmIdentifier({ algorithm: ECDSA_WITH_SHA256 });

/** Whose certificate it is, in the order of a kubelet. */
export function subjectOf({ commonName, organization }: Omit<Wanted, 'names'>): Name {
  const part = (type: string, utf8String: string) =>
    new RelativeDistinguishedName([new AttributeTypeAndValue({ type, value: new AttributeValue({ utf8String }) })]);
  return new Name([part(ORGANIZATION, organization), part(COMMON_NAME, commonName)]);
}

function attributesOf({ dnsNames, ips }: AlternativeNames): Attributes {
  const names = [
    ...dnsNames.map((dNSName) => new GeneralName({ dNSName })),
    ...ips.filter((ip) => isIP(ip) !== 0).map((iPAddress) => new GeneralName({ iPAddress })),
  ];
  if (names.length === 0) return new Attributes();
  const extnValue = new OctetString(AsnConvert.serialize(new SubjectAlternativeName(names)));
  const extensions = new Extensions([new Extension({ extnID: id_ce_subjectAltName, extnValue })]);
  return new Attributes([new Attribute({ type: REQUESTED_EXTENSIONS, values: [AsnConvert.serialize(extensions)] })]);
}
