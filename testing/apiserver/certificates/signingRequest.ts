/** Reads certificate signing requests (PKCS#10, RFC 2986), as far as signers and admission need them. */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { CertificationRequest, type CertificationRequestInfo } from '@peculiar/asn1-csr';
import { AsnConvert } from '@peculiar/asn1-schema';
import { Extensions, id_ce_subjectAltName, SubjectAlternativeName } from '@peculiar/asn1-x509';

export interface SigningRequest {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  readonly ips: readonly string[];
  readonly publicKey: KeyObject;
  /** Whether the signature is valid for the request's own public key. */
  readonly isSigned: boolean;
}

const COMMON_NAME = '2.5.4.3';
const ORGANIZATION = '2.5.4.10';
const EXTENSIONS = '1.2.840.113549.1.9.14';
const PEM = /^-----BEGIN ([^-]+)-----\n([A-Za-z0-9+/=\s]+)-----END \1-----\s*$/;

/** Parses a request. Throws an error with the kube-apiserver's message if it is malformed. */
export function readSigningRequest(base64: string): SigningRequest {
  const [, label, body = ''] = PEM.exec(Buffer.from(base64, 'base64').toString()) ?? [];
  if (label !== 'CERTIFICATE REQUEST') throw new Error('PEM block type must be CERTIFICATE REQUEST');
  const der = Buffer.from(body, 'base64');
  const request = AsnConvert.parse(der, CertificationRequest);
  const { certificationRequestInfo: info, certificationRequestInfoRaw: raw, signature } = request;
  const spki = Buffer.from(AsnConvert.serialize(info.subjectPKInfo));
  const publicKey = createPublicKey({ key: spki, format: 'der', type: 'spki' });
  const signed = Buffer.from(raw ?? AsnConvert.serialize(info));
  return {
    commonName: namesIn(info, COMMON_NAME)[0] ?? '',
    organizations: namesIn(info, ORGANIZATION),
    ...alternativeNames(info),
    publicKey,
    isSigned: verify('sha256', signed, publicKey, Buffer.from(signature)),
  };
}

const namesIn = ({ subject }: CertificationRequestInfo, type: string): string[] =>
  [...subject].flatMap((part) => [...part].filter((each) => each.type === type).map(({ value }) => value.toString()));

function alternativeNames({ attributes }: CertificationRequestInfo): Pick<SigningRequest, 'dnsNames' | 'ips'> {
  const requested = [...attributes].filter(({ type }) => type === EXTENSIONS).flatMap(({ values }) => values);
  const extensions = requested.flatMap((each) => [...AsnConvert.parse(each, Extensions)]);
  const names = extensions
    .filter(({ extnID }) => extnID === id_ce_subjectAltName)
    .flatMap(({ extnValue }) => [...AsnConvert.parse(extnValue.buffer, SubjectAlternativeName)]);
  return {
    dnsNames: names.flatMap(({ dNSName }) => dNSName ?? []),
    ips: names.flatMap(({ iPAddress }) => iPAddress ?? []),
  };
}
