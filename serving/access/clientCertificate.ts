/** Whoever shows a certificate of an authority that clients are to have one of (`request/x509/x509.go` of apiserver). */
import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../kube/clock.ts';
import type { Caller } from '../exchange.ts';
import { userOfCertificate } from './certificateUser.ts';

/** A connection that the handshake has checked, as far as it could. */
export type Shown = Pick<TLSSocket, 'authorized' | 'authorizationError' | 'getPeerX509Certificate' | 'isSessionReused'>;

interface Checked {
  /** From a client's own up to an authority's. */
  readonly chain: readonly X509Certificate[];
  readonly user: Caller | undefined;
  /** Those that it was checked by. */
  authorities: readonly X509Certificate[];
}

/** Longer ones are nobody's. */
const LONGEST_CHAIN = 10;

export class ClientCertificates {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #authorities: () => readonly X509Certificate[];
  /** Reading a certificate takes longer than answering many a request. */
  readonly #checked = new WeakMap<Shown, Checked>();

  /** `authorities` are those of now: a certificate is good only as long as one of them still vouches for it. */
  constructor(clock: Pick<Clock, 'now'>, authorities: () => readonly X509Certificate[]) {
    this.#clock = clock;
    this.#authorities = authorities;
  }

  /** Undefined where none is shown, or it names nobody; throws for one that is not good. */
  userOf(socket: Shown): Caller | undefined {
    const own = socket.getPeerX509Certificate();
    if (own === undefined) return undefined;
    if (!socket.authorized) throw new Error(`its certificate was refused: ${reasonOf(socket)}`);
    const authorities = this.#authorities();
    const known = this.#checked.get(socket);
    const checked = known ?? { chain: chainOf(own), user: userOfCertificate(own.raw), authorities: [] };
    const goesOn = known === undefined && socket.isSessionReused();
    if (checked.authorities !== authorities) requireTrusted(checked.chain, authorities, goesOn);
    checked.authorities = authorities;
    this.#checked.set(socket, checked);
    // Each time, as a connection may outlive what it was opened with.
    for (const each of checked.chain) requireInTime(each, this.#clock.now());
    return checked.user;
  }
}

const reasonOf = ({ authorizationError }: Shown): string =>
  authorizationError instanceof Error ? authorizationError.message : String(authorizationError);

function chainOf(own: X509Certificate): X509Certificate[] {
  const chain = [own];
  for (let next = own.issuerCertificate; next !== undefined; next = next.issuerCertificate) {
    if (chain.some(({ fingerprint256 }) => fingerprint256 === next?.fingerprint256)) break;
    if (chain.length >= LONGEST_CHAIN) throw new Error('the chain of its certificate is too long');
    chain.push(next);
  }
  return chain;
}

/** The handshake has checked that each one vouches for the one before. */
function requireTrusted(
  chain: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
  goesOn: boolean,
): void {
  const isTrusted = chain.some((each) => authorities.some((authority) => vouches(authority, each)));
  // A connection that goes on with another's session has the client's own certificate alone: here the handshake has the last word.
  if (!isTrusted && !goesOn) throw new Error('no client authority vouches for its certificate');
}

const vouches = (authority: X509Certificate, each: X509Certificate): boolean =>
  authority.raw.equals(each.raw) || (each.checkIssued(authority) && each.verify(authority.publicKey));

function requireInTime({ validFromDate, validToDate }: X509Certificate, now: number): void {
  if (now < validFromDate.getTime()) throw new Error('its certificate is not good yet');
  if (now > validToDate.getTime()) throw new Error('its certificate has expired');
}
