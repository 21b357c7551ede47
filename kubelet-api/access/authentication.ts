/**
 * Authenticates a request by its client certificate or token, whichever succeeds first
 * (`authenticatorfactory/delegating.go` of apiserver).
 */
import type { IncomingMessage } from 'node:http';
import type { Caller } from '../exchange.ts';
import type { ClientCertificates, TlsConnection } from './clientCertificate.ts';
import { bearerToken, protocolToken } from './offered.ts';

/** The credentials of a request. */
export interface Credentials {
  readonly headers: IncomingMessage['headers'];
  /** Undefined without TLS. */
  readonly socket?: TlsConnection;
}

/** Returns the owner of a token, or undefined if the token is unknown. Rejects if the owner cannot be determined. */
export type TokenOwner = (token: string, gone: AbortSignal) => Promise<Caller | undefined>;

export interface Authenticators {
  /** Undefined if no client authorities are configured, in which case certificates are ignored. */
  readonly certificates?: ClientCertificates | undefined;
  /** Token authenticators, which are called in order until one recognizes the token. If empty, tokens are ignored. */
  readonly tokens: readonly TokenOwner[];
  /** Whether requests without credentials are allowed as anonymous. */
  readonly isAnonymousAllowed: boolean;
}

/** The authenticated user, or the errors. There are no errors if the request has no credentials. */
export type Identity =
  | { readonly caller: Caller }
  | { readonly caller: undefined; readonly problems: readonly unknown[] };

const AUTHENTICATED = 'system:authenticated';
const UNAUTHENTICATED = 'system:unauthenticated';
const ANONYMOUS: Caller = { name: 'system:anonymous', groups: [UNAUTHENTICATED], extra: new Map() };

/** Identifies the user of a request. Rejects only if `gone` aborts. */
export async function identify(
  presented: Credentials,
  { certificates, tokens, isAnonymousAllowed }: Authenticators,
  gone: AbortSignal,
): Promise<Identity> {
  const { headers, socket } = presented;
  const owner = (token: string | undefined) => (token === undefined ? undefined : ownerOf(token, tokens, gone));
  const methods: readonly (() => Caller | undefined | Promise<Caller>)[] = [
    () => (socket === undefined ? undefined : certificates?.userOf(socket)),
    ...(tokens.length === 0 ? [] : [() => owner(bearerToken(headers)), () => owner(protocolToken(headers))]),
  ];
  const problems: unknown[] = [];
  for (const way of methods) {
    try {
      const caller = await way();
      if (caller !== undefined) return { caller: withAuthenticatedGroup(caller) };
    } catch (error) {
      gone.throwIfAborted();
      problems.push(error);
    }
  }
  return problems.length === 0 && isAnonymousAllowed ? { caller: ANONYMOUS } : { caller: undefined, problems };
}

/** Returns the owner of a token. Rejects if no authenticator recognizes the token. */
async function ownerOf(token: string, tokens: readonly TokenOwner[], gone: AbortSignal): Promise<Caller> {
  for (const owner of tokens) {
    const caller = await owner(token, gone);
    if (caller !== undefined) return caller;
  }
  throw new UnknownToken('nobody has the token that is offered');
}

/** Thrown if all authenticators have responded and none recognizes the token. */
export class UnknownToken extends Error {}

/** Adds the group of all authenticated users (`authentication/group/authenticated_group_adder.go` of apiserver). */
function withAuthenticatedGroup(caller: Caller): Caller {
  const { name, groups } = caller;
  const hasGroup = name === ANONYMOUS.name || groups.includes(AUTHENTICATED) || groups.includes(UNAUTHENTICATED);
  return hasGroup ? caller : { ...caller, groups: [...groups, AUTHENTICATED] };
}
