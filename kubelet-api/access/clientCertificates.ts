/** Authenticates clients by their certificates (`request/x509/x509.go` of apiserver). */
import { X509Certificate } from 'node:crypto';
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';
import type { Clock } from '../../base/time/clock.ts';
import type { Caller } from '../exchange.ts';
import type { AccessObserver } from './accessObserver.ts';
import { parseCertificateUser } from './certificateUser.ts';

/** A TLS connection after its handshake. */
export type TlsConnection = Pick<
  TLSSocket,
  'authorized' | 'authorizationError' | 'getPeerCertificate' | 'isSessionReused'
>;

type CertificateAuthorities = readonly X509Certificate[];

interface ParsedCertificate {
  /**
   * The client's certificate and its issuers up to one of the node's client CAs. Intermediate certificates that the
   * client sent may be missing.
   */
  readonly chain: readonly X509Certificate[];
  readonly user: Caller | undefined;
  /** The client CAs at the time of the handshake. Undefined if the connection was not registered with `greet`. */
  readonly handshakeAuthorities: CertificateAuthorities | undefined;
  /** The client CAs at the last successful check. */
  checkedAuthorities: CertificateAuthorities | undefined;
}

/** Maximum number of certificates in a chain. */
const MAX_CHAIN_LENGTH = 10;

export class ClientCertificates {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #onCertificatePresented: AccessObserver['certificatePresented'];
  readonly #getAuthorities: () => CertificateAuthorities;
  readonly #handshakeAuthorities = new WeakMap<TlsConnection, CertificateAuthorities>();
  /** Caches parsed certificates by connection, because parsing takes longer than serving most requests. */
  readonly #parsedCertificates = new WeakMap<TlsConnection, ParsedCertificate>();

  /**
   * `getAuthorities` returns the current client CAs, in a new array after each change. A certificate is rejected once
   * its issuer is no longer among them, even on an existing connection.
   */
  constructor(
    clock: Pick<Clock, 'now'>,
    getAuthorities: () => CertificateAuthorities,
    onCertificatePresented: AccessObserver['certificatePresented'] = () => {},
  ) {
    this.#clock = clock;
    this.#onCertificatePresented = onCertificatePresented;
    this.#getAuthorities = getAuthorities;
  }

  /**
   * Records the client CAs at the time of a handshake that has just completed, because intermediate certificates sent
   * by the client are verified only during the handshake.
   */
  greet(socket: TlsConnection): void {
    this.#handshakeAuthorities.set(socket, this.#getAuthorities());
  }

  /**
   * Returns the user that the client certificate of the given connection identifies. Undefined if the client sent no
   * certificate or the certificate names no user. Throws if the certificate is invalid.
   */
  userOf(socket: TlsConnection): Caller | undefined {
    const certificate = this.#parsedCertificates.get(socket) ?? this.#parseCertificate(socket);
    if (certificate === undefined) return undefined;
    this.#reportCertificate(certificate.chain);
    const authorities = this.#getAuthorities();
    if (certificate.checkedAuthorities !== authorities && !isTrusted(certificate, authorities))
      throw new Error('no client authority vouches for its certificate');
    certificate.checkedAuthorities = authorities;
    for (const each of certificate.chain) assertValidAt(each, this.#clock.now());
    return certificate.user;
  }

  #parseCertificate(socket: TlsConnection): ParsedCertificate | undefined {
    const chain = extractChain(socket.getPeerCertificate(true));
    const [own] = chain;
    if (own === undefined) return undefined;
    if (!socket.authorized) {
      this.#reportCertificate(chain);
      throw new Error(`its certificate was refused: ${formatAuthorizationError(socket)}`);
    }
    const handshakeAuthorities = this.#handshakeAuthorities.get(socket);
    const certificate: ParsedCertificate = {
      chain,
      user: parseCertificateUser(own.raw),
      handshakeAuthorities,
      checkedAuthorities: undefined,
    };
    this.#parsedCertificates.set(socket, certificate);
    return certificate;
  }

  /** Notifies the observer on every request, as in the kubelet, even if the certificate is rejected. */
  #reportCertificate([own]: readonly X509Certificate[]): void {
    if (own) this.#onCertificatePresented(own.validToDate.getTime() - this.#clock.now());
  }
}

const formatAuthorizationError = ({ authorizationError }: TlsConnection): string =>
  authorizationError instanceof Error ? authorizationError.message : String(authorizationError);

/** Returns the client's certificate chain, which is empty if the client sent no certificate. */
function extractChain(peerCertificate: Partial<DetailedPeerCertificate>): X509Certificate[] {
  const chain: X509Certificate[] = [];
  for (
    let nextCertificate: typeof peerCertificate | undefined = peerCertificate;
    nextCertificate?.raw !== undefined;
    nextCertificate = nextCertificate.issuerCertificate
  ) {
    const { raw } = nextCertificate;
    // Stop at a self-signed root certificate, because it is its own issuer.
    if (chain.some((each) => each.raw.equals(raw))) break;
    if (chain.length >= MAX_CHAIN_LENGTH) throw new Error('the chain of its certificate is too long');
    chain.push(new X509Certificate(raw));
  }
  return chain;
}

/**
 * Whether one of the current client CAs has issued a certificate of the chain, or all CAs that were trusted at the
 * handshake are still trusted.
 */
function isTrusted(
  { chain, handshakeAuthorities: trustedAtHandshake }: ParsedCertificate,
  authorities: CertificateAuthorities,
): boolean {
  if (chain.some((each) => authorities.some((authority) => isIssuer(authority, each)))) return true;
  return (
    trustedAtHandshake?.every((previousAuthority) =>
      authorities.some(({ raw }) => raw.equals(previousAuthority.raw)),
    ) === true
  );
}

const isIssuer = (authority: X509Certificate, each: X509Certificate): boolean =>
  authority.raw.equals(each.raw) || (each.checkIssued(authority) && each.verify(authority.publicKey));

function assertValidAt({ validFromDate, validToDate }: X509Certificate, now: number): void {
  if (now < validFromDate.getTime()) throw new Error('its certificate is not good yet');
  if (now > validToDate.getTime()) throw new Error('its certificate has expired');
}
