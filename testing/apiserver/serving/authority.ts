/**
 * The certificate authority of the API server, which issues the certificates of the server and its clients (RFC 5280).
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';
import type { SigningRequest } from '../certificates/signingRequest.ts';
import type { User } from '../requests/request.ts';
import {
  bits,
  booleanTrue,
  explicit,
  implicit,
  integer,
  objectId,
  octets,
  sequence,
  set,
  utcTime,
  utf8,
} from './der.ts';

export interface KeyPair {
  /** PEM. */
  readonly key: string;
  readonly cert: string;
}

/** The full range of two-digit years, so that certificates are valid on any test clock. */
const VALIDITY = ['000101000000Z', '491231235959Z'] as const;
const OID = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  keyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  alternativeNames: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
} as const;
const DNS_NAME = 2;
const IP_ADDRESS = 7;
/** The parameters of a signature. */
interface SigningParameters {
  readonly usage: 'client auth' | 'server auth';
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
}

/** Bits 5 and 6 of the key usage: signing certificates and revocation lists. */
const SIGNS_CERTIFICATES = Buffer.from([0x06]);

type Subject = Pick<User, 'name' | 'groups'>;

interface Named extends Subject {
  /** The validity. Default: that of the authority. */
  readonly valid?: readonly [from: string, to: string];
}

const SELF: Subject = { name: 'test authority', groups: [] };

export class Authority {
  /** PEM. */
  readonly cert: string;
  readonly #key: KeyObject;
  readonly #keyId: Buffer;

  constructor() {
    const own = newKeys();
    this.#key = own.privateKey;
    this.#keyId = idOf(own.publicKey);
    const isAuthority = extension(OID.basicConstraints, sequence(booleanTrue()), 'critical');
    const usage = extension(OID.keyUsage, bits(SIGNS_CERTIFICATES, 1), 'critical');
    this.cert = this.#certificate(SELF, own.publicKey, [isAuthority, usage]);
  }

  /**
   * Issues a certificate for a server on loopback or for a client, whose name and groups become the common name and the
   * organizations.
   */
  issue(subject: Subject): KeyPair {
    const { publicKey, privateKey } = newKeys();
    const localhost = implicit(DNS_NAME, Buffer.from('localhost'));
    const names = sequence(localhost, implicit(IP_ADDRESS, Buffer.from([127, 0, 0, 1])));
    const usage = sequence(objectId(OID.serverAuth), objectId(OID.clientAuth));
    const cert = this.#certificate(subject, publicKey, [
      extension(OID.alternativeNames, names),
      extension(OID.extendedKeyUsage, usage),
      extension(OID.authorityKeyId, sequence(implicit(0, this.#keyId))),
    ]);
    return { key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })), cert };
  }

  /** Issues a certificate for the key of a request. */
  sign(request: SigningRequest, { usage, from, to }: SigningParameters): string {
    const { commonName: name, organizations: groups, publicKey, dnsNames, ips } = request;
    const names = [
      ...dnsNames.map((each) => implicit(DNS_NAME, Buffer.from(each))),
      ...ips.map((each) => implicit(IP_ADDRESS, addressOf(each))),
    ];
    return this.#certificate({ name, groups, valid: [utcText(from), utcText(to)] }, publicKey, [
      ...(names.length === 0 ? [] : [extension(OID.alternativeNames, sequence(...names))]),
      extension(OID.extendedKeyUsage, sequence(objectId(usage === 'client auth' ? OID.clientAuth : OID.serverAuth))),
      extension(OID.authorityKeyId, sequence(implicit(0, this.#keyId))),
    ]);
  }

  #certificate(subject: Named, publicKey: KeyObject, extensions: readonly Buffer[]): string {
    const [from, to] = subject.valid ?? VALIDITY;
    const algorithm = sequence(objectId(OID.ecdsaWithSha256));
    const version3 = explicit(0, integer(Buffer.from([2])));
    const keyId = extension(OID.keyId, octets(idOf(publicKey)));
    const signed = sequence(
      version3,
      integer(serialNumber()),
      algorithm,
      nameOf(SELF),
      sequence(utcTime(from), utcTime(to)),
      nameOf(subject),
      spkiOf(publicKey),
      explicit(3, sequence(keyId, ...extensions)),
    );
    return pem(sequence(signed, algorithm, bits(sign('sha256', signed, this.#key))));
  }
}

const newKeys = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
const spkiOf = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' });
/** The key ID can be any digest of the key. */
const idOf = (key: KeyObject): Buffer => createHash('sha256').update(spkiOf(key)).digest().subarray(0, 20);

const extension = (id: string, content: Buffer, ...critical: readonly 'critical'[]): Buffer =>
  sequence(objectId(id), ...critical.map(booleanTrue), octets(content));

/** The leading byte makes the number positive and free of redundant bytes. */
const serialNumber = (): Buffer => Buffer.concat([Buffer.from([1]), randomBytes(15)]);

function nameOf({ name, groups }: Subject): Buffer {
  const part = (id: string, text: string) => set(sequence(objectId(id), utf8(text)));
  return sequence(...groups.map((group) => part(OID.organization, group)), part(OID.commonName, name));
}

function pem(der: Buffer): string {
  const lines = der.toString('base64').replaceAll(/.{64}/g, '$&\n').trimEnd();
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

/** The time format of certificates up to 2049. */
const utcText = (at: number): string => `${new Date(at).toISOString().slice(2, 19).replaceAll(/[-:T]/g, '')}Z`;

function addressOf(ip: string): Buffer {
  if (isIPv4(ip)) return Buffer.from(ip.split('.').map(Number));
  const [head = '', tail = ''] = ip.split('::');
  const [before, after] = [head, tail].map((half) => half.split(':').filter((part) => part !== ''));
  const missing = Array<string>(8 - (before?.length ?? 0) - (after?.length ?? 0)).fill('0');
  const words = [...(before ?? []), ...missing, ...(after ?? [])];
  return Buffer.from(words.map((word) => word.padStart(4, '0')).join(''), 'hex');
}
