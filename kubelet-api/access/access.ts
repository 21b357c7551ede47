/** Lets requests to the node's server in, or says why not (`InstallAuthFilter` in `pkg/kubelet/server/server.go`). */
import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { KubeClient } from '../../kubeclient/client.ts';
import type { Clock } from '../../kubeclient/clock.ts';
import type { Caller } from '../exchange.ts';
import type { AccessObserver } from './accessObserver.ts';
import { accessQuestion, reviewAccess } from './accessReview.ts';
import { type Authenticators, identify, type TokenOwner, UnknownToken } from './authentication.ts';
import { ClientCertificates, type Shown } from './clientCertificate.ts';
import { BadOffer, stripTokens } from './offered.ts';
import { type ReviewCounts, Reviews } from './reviews.ts';
import { subresourcesOf, verbOf } from './subresources.ts';
import { type ReviewParts, reviewToken } from './tokenReview.ts';

/** As `authentication` of a kubelet's configuration. */
export interface AuthenticationOptions {
  readonly isAnonymousAllowed: boolean;
  /** Tokens are reviewed by the API server, and answers kept for so many milliseconds; absent: they are not. */
  readonly webhook?: { readonly cacheMs: number };
}

/**
 * As `authorization` of a kubelet's configuration, with one more mode, for a node without an API server: there those may
 * do everything who belong to `system:masters`, and nobody else anything.
 */
export type AuthorizationOptions =
  | { readonly mode: 'AlwaysAllow' }
  | { readonly mode: 'Webhook'; readonly allowedMs: number; readonly deniedMs: number }
  | { readonly mode: 'Masters' };

export interface AccessParts {
  readonly nodeName: string;
  readonly clock: Clock;
  /** Aborts when the server ends. */
  readonly signal: AbortSignal;
  readonly authentication: AuthenticationOptions;
  readonly authorization: AuthorizationOptions;
  /** Absent: there is no API server. It should not hold back what is asked by a rate: whoever floods the node would have it all. */
  readonly client?: Pick<KubeClient, 'create'>;
  /** Those that vouch for clients, as they are now: another array once they have changed. Absent: none are configured. */
  readonly clientAuthorities?: () => readonly X509Certificate[];
  /** Whose a token is that the node knows by itself; absent: it knows none. */
  readonly ownTokens?: TokenOwner;
  readonly observer?: AccessObserver | undefined;
  /** Is told what goes wrong, never of a request that is refused; no token is in it. */
  readonly onError: (source: 'authentication' | 'authorization', error: unknown) => void;
}

interface Asking {
  readonly request: Pick<IncomingMessage, 'method' | 'headers' | 'rawHeaders'>;
  /** The connection; absent: it has no TLS. */
  readonly socket?: Shown;
  /** The path by which the request is routed, without escapes: another one would be allowed than is answered. */
  readonly path: string;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
}

export type Admission =
  | { readonly isAdmitted: true; readonly caller: Caller }
  | {
      readonly isAdmitted: false;
      readonly code: 401 | 403 | 500;
      /** The whole body, of the type `text/plain; charset=utf-8`. */
      readonly text: string;
    };

interface AccessCounts {
  readonly tokens: ReviewCounts;
  readonly access: ReviewCounts;
}

export interface Access {
  /** Is to be told of each connection as soon as its handshake is done: the server's event `secureConnection`. */
  greet(socket: Shown): void;
  /** Takes the tokens out of a request that is admitted. Rejects only when the client has gone. */
  admit(asking: Asking): Promise<Admission>;
  /** Reviews by the API server, since the start. */
  counts(): AccessCounts;
}

type Allowed = (caller: Caller, verb: string, subresource: string, gone: AbortSignal) => Promise<boolean>;

/** Throws for a configuration that would let nobody in, or that nobody could decide by. */
export function createAccess(parts: AccessParts): Access {
  const { clock, signal, authentication, authorization, observer } = parts;
  const { allowedMs, deniedMs } = authorization.mode === 'Webhook' ? authorization : { allowedMs: 0, deniedMs: 0 };
  const { cacheMs = 0 } = authentication.webhook ?? {};
  const tokens = new Reviews<Caller | undefined>({
    clock,
    signal,
    isGood: (caller) => caller !== undefined,
    goodMs: cacheMs,
    badMs: cacheMs,
    observer: observer?.tokenCache,
  });
  const access = new Reviews<boolean>({
    clock,
    signal,
    isGood: (isAllowed) => isAllowed,
    goodMs: allowedMs,
    badMs: deniedMs,
  });
  const authenticators = authenticatorsOf(parts, tokens);
  const allowed = allowedBy(parts, access);
  return {
    greet: (socket) => authenticators.certificates?.greet(socket),
    admit: (asking) => admit(asking, parts, authenticators, allowed),
    counts: () => ({ tokens: tokens.counts(), access: access.counts() }),
  };
}

function authenticatorsOf(parts: AccessParts, reviews: Reviews<Caller | undefined>): Authenticators {
  const { clock, authentication, clientAuthorities, ownTokens, observer } = parts;
  const { isAnonymousAllowed, webhook } = authentication;
  const tokens = ownTokens === undefined ? [] : [ownTokens];
  if (webhook !== undefined) {
    const review = reviewParts(parts, 'authentication.webhook.enabled');
    tokens.push((token, gone) => reviews.answer(token, (signal) => reviewToken(token, review, signal), gone));
  }
  if (tokens.length === 0 && clientAuthorities === undefined && !isAnonymousAllowed)
    throw new Error('no authentication method is configured for the server of the node');
  const certificates =
    clientAuthorities && new ClientCertificates(clock, clientAuthorities, observer?.certificateShown);
  return { certificates, tokens, isAnonymousAllowed };
}

function allowedBy(parts: AccessParts, reviews: Reviews<boolean>): Allowed {
  const { authorization, nodeName: node } = parts;
  if (authorization.mode === 'AlwaysAllow') return async () => true;
  if (authorization.mode === 'Masters') return async ({ groups }) => groups.includes('system:masters');
  const review = reviewParts(parts, 'authorization.mode: Webhook');
  return (caller, verb, subresource, gone) => {
    const question = accessQuestion(caller, { verb, node, subresource });
    return reviews.answer(question, (signal) => reviewAccess(question, review, signal), gone);
  };
}

function reviewParts({ client, clock, observer }: AccessParts, what: string): ReviewParts {
  if (client === undefined) throw new Error(`${what} needs an API server`);
  return { client, clock, onReviewed: observer?.reviewed };
}

async function admit(
  { request, socket, path, signal }: Asking,
  { onError }: AccessParts,
  authenticators: Authenticators,
  allowed: Allowed,
): Promise<Admission> {
  const presented = socket === undefined ? request : { headers: request.headers, socket };
  const identity = await identify(presented, authenticators, signal);
  if (identity.caller === undefined) {
    for (const problem of identity.problems) if (!isOrdinary(problem)) onError('authentication', problem);
    return refusal(401, 'Unauthorized');
  }
  const refused = await refusalOf(
    identity.caller,
    { verb: verbOf(request.method ?? ''), path, signal },
    allowed,
    onError,
  );
  if (refused !== undefined) return refused;
  stripTokens(request);
  return { isAdmitted: true, caller: identity.caller };
}

/** Who is just not known, or offers something odd, would fill the log with it. */
const isOrdinary = (problem: unknown): boolean => problem instanceof UnknownToken || problem instanceof BadOffer;

interface Wanted {
  readonly verb: string;
  readonly path: string;
  readonly signal: AbortSignal;
}

/** Undefined: it may. One of its subresources is enough, but nobody is asked for the next one where one could not be told. */
async function refusalOf(
  caller: Caller,
  { verb, path, signal }: Wanted,
  allowed: Allowed,
  onError: AccessParts['onError'],
): Promise<Admission | undefined> {
  const subresources = subresourcesOf(path);
  const who = `user=${caller.name}, verb=${verb}, resource=nodes`;
  for (const subresource of subresources) {
    try {
      if (await allowed(caller, verb, subresource, signal)) return undefined;
    } catch (error) {
      signal.throwIfAborted();
      onError('authorization', error);
      return refusal(500, `Authorization error (${who}, subresource=${subresource})`);
    }
  }
  return refusal(403, `Forbidden (${who}, subresource(s)=[${subresources.join(' ')}])\n`);
}

const refusal = (code: 401 | 403 | 500, text: string): Admission => ({ isAdmitted: false, code, text });
