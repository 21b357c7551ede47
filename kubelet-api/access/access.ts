/**
 * Authenticates and authorizes requests to the node's server (`InstallAuthFilter` in `pkg/kubelet/server/server.go`).
 */
import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../base/time/clock.ts';
import type { KubeClient } from '../../kubeclient/client.ts';
import type { Caller } from '../exchange.ts';
import type { AccessObserver } from './accessObserver.ts';
import { reviewAccess, serializeReviewSpec } from './accessReview.ts';
import { type Authenticators, type FindTokenOwner, identifyCaller, UnknownToken } from './authentication.ts';
import { ClientCertificates, type TlsConnection } from './clientCertificates.ts';
import { BadOffer, stripTokens } from './offered.ts';
import { type ReviewCounts, Reviews } from './reviews.ts';
import { findSubresources, toVerb } from './subresources.ts';
import { type ReviewOptions, reviewToken } from './tokenReview.ts';

/** Mirrors `authentication` in the kubelet's configuration. */
export interface AuthenticationOptions {
  readonly isAnonymousAllowed: boolean;
  /** Enables token reviews by the API server. Their responses are cached for `cacheMs`. */
  readonly webhook?: { readonly cacheMs: number };
}

/**
 * Mirrors `authorization` in the kubelet's configuration. The additional mode `Masters` is for nodes without an API
 * server. It allows all requests from members of `system:masters` and no others.
 */
export type AuthorizationOptions =
  | { readonly mode: 'AlwaysAllow' }
  | { readonly mode: 'Webhook'; readonly allowedMs: number; readonly deniedMs: number }
  | { readonly mode: 'Masters' };

export interface AccessOptions {
  readonly nodeName: string;
  readonly clock: Clock;
  /** Aborts when the server closes. */
  readonly signal: AbortSignal;
  readonly authentication: AuthenticationOptions;
  readonly authorization: AuthorizationOptions;
  /**
   * Undefined if there is no API server. The client should have no rate limit, because clients of the node could
   * otherwise exhaust it.
   */
  readonly client?: Pick<KubeClient, 'create'>;
  /**
   * Returns the CA certificates against which client certificates are verified, in a new array after each change.
   * Undefined if no client CA is configured.
   */
  readonly clientAuthorities?: () => readonly X509Certificate[];
  /** Returns the owner of a token that the node itself has issued. Undefined if the node issues no tokens. */
  readonly findTokenOwner?: FindTokenOwner;
  readonly observer?: AccessObserver | undefined;
  /** Called with each error that is not solely the client's fault. The error messages contain no tokens. */
  readonly onError: (source: 'authentication' | 'authorization', error: unknown) => void;
}

interface AdmissionRequest {
  readonly request: Pick<IncomingMessage, 'method' | 'headers' | 'rawHeaders'>;
  /** The connection. Undefined without TLS. */
  readonly socket?: TlsConnection;
  /**
   * The decoded path, which must also be the path used for routing. Otherwise a client could be authorized for one path
   * and served another.
   */
  readonly path: string;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

export type Admission =
  | { readonly isAdmitted: true; readonly caller: Caller }
  | {
      readonly isAdmitted: false;
      readonly code: 401 | 403 | 500;
      /** The whole response body, of type `text/plain; charset=utf-8`. */
      readonly text: string;
    };

interface AccessCounts {
  readonly tokens: ReviewCounts;
  readonly access: ReviewCounts;
}

export interface Access {
  /**
   * Registers a connection. Must be called on the server's `secureConnection` event, as soon as the handshake is
   * complete.
   */
  greet(socket: TlsConnection): void;
  /**
   * Authenticates and authorizes a request. Removes all tokens from an admitted request. Rejects only if the client
   * disconnects.
   */
  admit(admissionRequest: AdmissionRequest): Promise<Admission>;
  /** Returns the counts of token reviews and access reviews since the server started. */
  counts(): AccessCounts;
}

type Authorize = (caller: Caller, verb: string, subresource: string, disconnectSignal: AbortSignal) => Promise<boolean>;

/**
 * Creates the access control. Throws if no authentication method is configured, or if the configuration needs an API
 * server but there is none.
 */
export function createAccess(options: AccessOptions): Access {
  const { clock, signal, authentication, authorization, observer } = options;
  const { allowedMs, deniedMs } = authorization.mode === 'Webhook' ? authorization : { allowedMs: 0, deniedMs: 0 };
  const { cacheMs = 0 } = authentication.webhook ?? {};
  const tokenReviews = new Reviews<Caller | undefined>({
    clock,
    signal,
    isPositive: (caller) => caller !== undefined,
    positiveTtlMs: cacheMs,
    negativeTtlMs: cacheMs,
    observer: observer?.tokenCache,
  });
  const accessReviews = new Reviews<boolean>({
    clock,
    signal,
    isPositive: (isAllowed) => isAllowed,
    positiveTtlMs: allowedMs,
    negativeTtlMs: deniedMs,
  });
  const authenticators = createAuthenticators(options, tokenReviews);
  const isAllowed = createAuthorizer(options, accessReviews);
  return {
    greet: (socket) => authenticators.certificates?.greet(socket),
    admit: (admissionRequest) => admit(admissionRequest, options, authenticators, isAllowed),
    counts: () => ({ tokens: tokenReviews.counts(), access: accessReviews.counts() }),
  };
}

function createAuthenticators(options: AccessOptions, reviews: Reviews<Caller | undefined>): Authenticators {
  const { clock, authentication, clientAuthorities, findTokenOwner, observer } = options;
  const { isAnonymousAllowed, webhook } = authentication;
  const tokenOwners = findTokenOwner === undefined ? [] : [findTokenOwner];
  if (webhook !== undefined) {
    const reviewOptions = createReviewOptions(options, 'authentication.webhook.enabled');
    tokenOwners.push((token, disconnectSignal) =>
      reviews.getOrRequest(token, (signal) => reviewToken(token, reviewOptions, signal), disconnectSignal),
    );
  }
  if (tokenOwners.length === 0 && clientAuthorities === undefined && !isAnonymousAllowed)
    throw new Error('no authentication method is configured for the server of the node');
  const certificates =
    clientAuthorities && new ClientCertificates(clock, clientAuthorities, observer?.certificatePresented);
  return { certificates, tokenOwners, isAnonymousAllowed };
}

function createAuthorizer(options: AccessOptions, reviews: Reviews<boolean>): Authorize {
  const { authorization, nodeName: node } = options;
  if (authorization.mode === 'AlwaysAllow') return async () => true;
  if (authorization.mode === 'Masters') return async ({ groups }) => groups.includes('system:masters');
  const reviewOptions = createReviewOptions(options, 'authorization.mode: Webhook');
  return (caller, verb, subresource, disconnectSignal) => {
    const reviewSpec = serializeReviewSpec(caller, { verb, node, subresource });
    return reviews.getOrRequest(
      reviewSpec,
      (signal) => reviewAccess(reviewSpec, reviewOptions, signal),
      disconnectSignal,
    );
  };
}

function createReviewOptions({ client, clock, observer }: AccessOptions, feature: string): ReviewOptions {
  if (client === undefined) throw new Error(`${feature} needs an API server`);
  return { client, clock, onReviewed: observer?.reviewCompleted };
}

async function admit(
  { request, socket, path, signal }: AdmissionRequest,
  { onError }: AccessOptions,
  authenticators: Authenticators,
  isAllowed: Authorize,
): Promise<Admission> {
  const credentials = socket === undefined ? request : { headers: request.headers, socket };
  const identity = await identifyCaller(credentials, authenticators, signal);
  if (identity.caller === undefined) {
    for (const problem of identity.problems) if (!isClientError(problem)) onError('authentication', problem);
    return createRefusal(401, 'Unauthorized');
  }
  const authorizationRefusal = await authorize(
    identity.caller,
    { verb: toVerb(request.method ?? ''), path, signal },
    isAllowed,
    onError,
  );
  if (authorizationRefusal !== undefined) return authorizationRefusal;
  stripTokens(request);
  return { isAdmitted: true, caller: identity.caller };
}

/** Whether the client alone caused an error. Such errors are not logged, because a client could flood the log. */
const isClientError = (problem: unknown): boolean => problem instanceof UnknownToken || problem instanceof BadOffer;

interface RequestedAction {
  readonly verb: string;
  readonly path: string;
  readonly signal: AbortSignal;
}

/**
 * Authorizes a request. Returns undefined if the user may access at least one of the request's subresources. Refuses
 * the request at the first subresource whose check fails with an error.
 */
async function authorize(
  caller: Caller,
  { verb, path, signal }: RequestedAction,
  isAllowed: Authorize,
  onError: AccessOptions['onError'],
): Promise<Admission | undefined> {
  const subresources = findSubresources(path);
  const attributesText = `user=${caller.name}, verb=${verb}, resource=nodes`;
  for (const subresource of subresources) {
    try {
      if (await isAllowed(caller, verb, subresource, signal)) return undefined;
    } catch (error) {
      signal.throwIfAborted();
      onError('authorization', error);
      return createRefusal(500, `Authorization error (${attributesText}, subresource=${subresource})`);
    }
  }
  return createRefusal(403, `Forbidden (${attributesText}, subresource(s)=[${subresources.join(' ')}])\n`);
}

const createRefusal = (code: 401 | 403 | 500, text: string): Admission => ({ isAdmitted: false, code, text });
