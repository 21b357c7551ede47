/** Who asks: whoever is known first, by a certificate, or by a token (`authenticatorfactory/delegating.go` of apiserver). */
import type { IncomingMessage } from 'node:http';
import type { Caller } from '../exchange.ts';
import type { ClientCertificates, Shown } from './clientCertificate.ts';
import { bearerToken, protocolToken } from './offered.ts';

/** What is looked at of a request. */
export interface Presented {
  readonly headers: IncomingMessage['headers'];
  /** Absent: the connection has no TLS. */
  readonly socket?: Shown;
}

/** Whose a token is: undefined for nobody's; rejects where that cannot be said. */
export type TokenOwner = (token: string, gone: AbortSignal) => Promise<Caller | undefined>;

export interface Authenticators {
  /** Absent: no client authority is configured, and certificates say nothing. */
  readonly certificates?: ClientCertificates | undefined;
  /** Each is asked until one knows; without any, tokens say nothing. */
  readonly tokens: readonly TokenOwner[];
  /** Whether whoever offers nothing is let in as nobody. */
  readonly isAnonymousAllowed: boolean;
}

/** Who asks; or why nobody is known, each reason an error: none where nothing was offered. */
export type Identity =
  | { readonly caller: Caller }
  | { readonly caller: undefined; readonly problems: readonly unknown[] };

const AUTHENTICATED = 'system:authenticated';
const UNAUTHENTICATED = 'system:unauthenticated';
const ANONYMOUS: Caller = { name: 'system:anonymous', groups: [UNAUTHENTICATED], extra: new Map() };

/** Rejects only when `gone` aborts. */
export async function identify(
  presented: Presented,
  { certificates, tokens, isAnonymousAllowed }: Authenticators,
  gone: AbortSignal,
): Promise<Identity> {
  const { headers, socket } = presented;
  const owner = (token: string | undefined) => (token === undefined ? undefined : ownerOf(token, tokens, gone));
  const ways: readonly (() => Caller | undefined | Promise<Caller>)[] = [
    () => (socket === undefined ? undefined : certificates?.userOf(socket)),
    ...(tokens.length === 0 ? [] : [() => owner(bearerToken(headers)), () => owner(protocolToken(headers))]),
  ];
  const problems: unknown[] = [];
  for (const way of ways) {
    try {
      const caller = await way();
      if (caller !== undefined) return { caller: authenticated(caller) };
    } catch (error) {
      gone.throwIfAborted();
      problems.push(error);
    }
  }
  return problems.length === 0 && isAnonymousAllowed ? { caller: ANONYMOUS } : { caller: undefined, problems };
}

/** A token that is offered has to be somebody's. */
async function ownerOf(token: string, tokens: readonly TokenOwner[], gone: AbortSignal): Promise<Caller> {
  for (const owner of tokens) {
    const caller = await owner(token, gone);
    if (caller !== undefined) return caller;
  }
  throw new UnknownToken('nobody has the token that is offered');
}

/** Nothing has gone wrong: nobody has it. */
export class UnknownToken extends Error {}

/** Whoever is known belongs to a group of all who are (`authentication/group/authenticated_group_adder.go` of apiserver). */
function authenticated(caller: Caller): Caller {
  const { name, groups } = caller;
  const isTold = name === ANONYMOUS.name || groups.includes(AUTHENTICATED) || groups.includes(UNAUTHENTICATED);
  return isTold ? caller : { ...caller, groups: [...groups, AUTHENTICATED] };
}
