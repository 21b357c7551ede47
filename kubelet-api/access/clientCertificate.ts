/** Whoever shows a certificate of an authority that clients are to have one of (`request/x509/x509.go` of apiserver). */
import { X509Certificate } from 'node:crypto';
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';
import type { Clock } from '../../kubeclient/clock.ts';
import type { Caller } from '../exchange.ts';
import type { AccessObserver } from './accessObserver.ts';
import { userOfCertificate } from './certificateUser.ts';

/** A connection that the handshake has checked, as far as it could. */
export type Shown = Pick<TLSSocket, 'authorized' | 'authorizationError' | 'getPeerCertificate' | 'isSessionReused'>;

type Authorities = readonly X509Certificate[];

interface Known {
  /** From a client's own upwards, as far as the node's own authorities reach: those that a client adds are not told. */
  readonly chain: readonly X509Certificate[];
  readonly user: Caller | undefined;
  /** Those of the handshake; absent: nobody has told of it. */
  readonly first: Authorities | undefined;
  /** Those that it was checked by last. */
  last: Authorities | undefined;
}

/** Longer ones are nobody's. */
const LONGEST_CHAIN = 10;

export class ClientCertificates {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #onShown: AccessObserver['certificateShown'];
  readonly #authorities: () => Authorities;
  readonly #greeted = new WeakMap<Shown, Authorities>();
  /** Reading a certificate takes longer than answering many a request. */
  readonly #known = new WeakMap<Shown, Known>();

  /**
   * `authorities` are those of now, another list once they have changed: a certificate is good only as long as one of them
   * vouches for it, however long its connection goes on.
   */
  constructor(
    clock: Pick<Clock, 'now'>,
    authorities: () => Authorities,
    onShown: AccessObserver['certificateShown'] = () => {},
  ) {
    this.#clock = clock;
    this.#onShown = onShown;
    this.#authorities = authorities;
  }

  /** Takes the word of a handshake that is just done: only by it is a chain known whose parts the client has. */
  greet(socket: Shown): void {
    this.#greeted.set(socket, this.#authorities());
  }

  /** Undefined where none is shown, or it names nobody; throws for one that is not good. */
  userOf(socket: Shown): Caller | undefined {
    const known = this.#known.get(socket) ?? this.#read(socket);
    if (known === undefined) return undefined;
    this.#show(known.chain);
    const authorities = this.#authorities();
    if (known.last !== authorities && !isVouchedFor(known, authorities))
      throw new Error('no client authority vouches for its certificate');
    known.last = authorities;
    for (const each of known.chain) requireInTime(each, this.#clock.now());
    return known.user;
  }

  #read(socket: Shown): Known | undefined {
    const chain = chainOf(socket.getPeerCertificate(true));
    const [own] = chain;
    if (own === undefined) return undefined;
    if (!socket.authorized) {
      this.#show(chain);
      throw new Error(`its certificate was refused: ${reasonOf(socket)}`);
    }
    const first = this.#greeted.get(socket);
    const known: Known = { chain, user: userOfCertificate(own.raw), first, last: undefined };
    this.#known.set(socket, known);
    return known;
  }

  /** A kubelet observes the certificate of every request before it verifies it. */
  #show([own]: readonly X509Certificate[]): void {
    if (own) this.#onShown(own.validToDate.getTime() - this.#clock.now());
  }
}

const reasonOf = ({ authorizationError }: Shown): string =>
  authorizationError instanceof Error ? authorizationError.message : String(authorizationError);

/** Empty where none is shown. */
function chainOf(shown: Partial<DetailedPeerCertificate>): X509Certificate[] {
  const chain: X509Certificate[] = [];
  for (let next: typeof shown | undefined = shown; next?.raw !== undefined; next = next.issuerCertificate) {
    const { raw } = next;
    // That of an authority is its own issuer's.
    if (chain.some((each) => each.raw.equals(raw))) break;
    if (chain.length >= LONGEST_CHAIN) throw new Error('the chain of its certificate is too long');
    chain.push(new X509Certificate(raw));
  }
  return chain;
}

/** By itself, or as all authorities are still there that the handshake knew. */
function isVouchedFor({ chain, first }: Known, authorities: Authorities): boolean {
  if (chain.some((each) => authorities.some((authority) => vouches(authority, each)))) return true;
  return first?.every((before) => authorities.some(({ raw }) => raw.equals(before.raw))) === true;
}

const vouches = (authority: X509Certificate, each: X509Certificate): boolean =>
  authority.raw.equals(each.raw) || (each.checkIssued(authority) && each.verify(authority.publicKey));

function requireInTime({ validFromDate, validToDate }: X509Certificate, now: number): void {
  if (now < validFromDate.getTime()) throw new Error('its certificate is not good yet');
  if (now > validToDate.getTime()) throw new Error('its certificate has expired');
}
