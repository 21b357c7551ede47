/**
 * Authenticates a request by its client certificate or token, whichever succeeds first
 * (`authenticatorfactory/delegating.go` of apiserver).
 */
import type { IncomingMessage } from 'node:http';
import type { Caller } from '../exchange.ts';
import type { ClientCertificates, TlsConnection } from './clientCertificates.ts';
import { bearerToken, protocolToken } from './offered.ts';

export interface Credentials {
  readonly headers: IncomingMessage['headers'];
  /** Undefined without TLS. */
  readonly socket?: TlsConnection;
}

/**
 * Returns the owner of the given token, or undefined if the token is unknown. Rejects if the owner cannot be
 * determined.
 */
export type FindTokenOwner = (token: string, disconnectSignal: AbortSignal) => Promise<Caller | undefined>;

export interface Authenticators {
  /** Undefined if no client authorities are configured, in which case certificates are ignored. */
  readonly certificates?: ClientCertificates | undefined;
  /** Token authenticators, which are called in order until one recognizes the token. If empty, tokens are ignored. */
  readonly tokenOwners: readonly FindTokenOwner[];
  /** Whether requests without credentials are allowed as anonymous. */
  readonly isAnonymousAllowed: boolean;
}

/** The authenticated user, or the errors. The list of errors is empty if the request has no credentials. */
export type Identity =
  | { readonly caller: Caller }
  | { readonly caller: undefined; readonly problems: readonly unknown[] };

const AUTHENTICATED_GROUP = 'system:authenticated';
const UNAUTHENTICATED_GROUP = 'system:unauthenticated';
const ANONYMOUS_CALLER: Caller = { name: 'system:anonymous', groups: [UNAUTHENTICATED_GROUP], extra: new Map() };

/** Identifies the user of a request. Rejects only if `disconnectSignal` aborts. */
export async function identifyCaller(
  credentials: Credentials,
  { certificates, tokenOwners, isAnonymousAllowed }: Authenticators,
  disconnectSignal: AbortSignal,
): Promise<Identity> {
  const { headers, socket } = credentials;
  const requireOwner = (token: string | undefined) =>
    token === undefined ? undefined : requireTokenOwner(token, tokenOwners, disconnectSignal);
  const authenticationMethods: readonly (() => Caller | undefined | Promise<Caller>)[] = [
    () => (socket === undefined ? undefined : certificates?.userOf(socket)),
    ...(tokenOwners.length === 0
      ? []
      : [() => requireOwner(bearerToken(headers)), () => requireOwner(protocolToken(headers))]),
  ];
  const problems: unknown[] = [];
  for (const way of authenticationMethods) {
    try {
      const caller = await way();
      if (caller !== undefined) return { caller: withAuthenticatedGroup(caller) };
    } catch (error) {
      disconnectSignal.throwIfAborted();
      problems.push(error);
    }
  }
  return problems.length === 0 && isAnonymousAllowed ? { caller: ANONYMOUS_CALLER } : { caller: undefined, problems };
}

/** Returns the owner of the given token. Rejects if no authenticator recognizes the token. */
async function requireTokenOwner(
  token: string,
  tokenOwners: readonly FindTokenOwner[],
  disconnectSignal: AbortSignal,
): Promise<Caller> {
  for (const owner of tokenOwners) {
    const caller = await owner(token, disconnectSignal);
    if (caller !== undefined) return caller;
  }
  throw new UnknownToken('nobody has the token that is offered');
}

/** Thrown if all authenticators have responded and none recognizes the token. */
export class UnknownToken extends Error {}

/** Adds the group of all authenticated users (`authentication/group/authenticated_group_adder.go` of apiserver). */
function withAuthenticatedGroup(caller: Caller): Caller {
  const { name, groups } = caller;
  const hasGroup =
    name === ANONYMOUS_CALLER.name || groups.includes(AUTHENTICATED_GROUP) || groups.includes(UNAUTHENTICATED_GROUP);
  return hasGroup ? caller : { ...caller, groups: [...groups, AUTHENTICATED_GROUP] };
}
