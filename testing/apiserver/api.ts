/** An API server in memory for tests, independent of the transport. */

import type { TimerClock } from '../../base/time/clock.ts';
import { admission } from './admission/admission.ts';
import { ISSUER, ServiceAccountTokens, type Verdict } from './authentication/serviceAccountTokens.ts';
import { authenticated, unauthorized, userOf } from './authentication/tokens.ts';
import { type Attributes, attributesOf } from './authorization/attributes.ts';
import { type AuthorizationData, authorize, decide } from './authorization/authorize.ts';
import { type Grant, kubeletApiAdmin } from './authorization/grants.ts';
import { forwardOf } from './connect/connect.ts';
import { AGGREGATED_TYPE, aggregatedDiscovery, prefersAggregated } from './discovery/aggregatedDiscovery.ts';
import { discovery, isServedGroupPath } from './discovery/discovery.ts';
import { jsonResponse, type PlainResponse, pageNotFound, plainPathResponse } from './discovery/plainPaths.ts';
import { badRequest, methodNotAllowed, resourceNotFound } from './failures/failures.ts';
import { Faults } from './faults.ts';
import type { Call } from './handlers/call.ts';
import { type Handler, handlerOf } from './handlers/handlers.ts';
import { createInitialObjects } from './initialObjects.ts';
import { UsageHistory } from './metrics/usageHistory.ts';
import { openApi } from './openapi/documents.ts';
import { type Ids, randomIds } from './registry/ids.ts';
import { Registry } from './registry/registry.ts';
import { strategyOf } from './registry/strategies/strategies.ts';
import { bodyOf } from './requests/body.ts';
import type { ApiRequest, ApiResponse, User } from './requests/request.ts';
import { type Target, targetOf } from './resources/target.ts';
import { type Representation, representationOf } from './responses/negotiation.ts';
import {
  errorResponse,
  forwardResponse,
  objectResponse,
  PLAIN_JSON,
  plainResponse,
  watchResponse,
} from './responses/responses.ts';
import { shapeObject } from './responses/shapes.ts';
import { readTypes, type Types } from './schema/types.ts';

export interface ApiOptions {
  readonly clock: TimerClock;
  /** Users by bearer token. */
  readonly tokens: ReadonlyMap<string, User>;
  /** The server's `host:port`. */
  readonly address: string;
  /** The source of UIDs and name suffixes. Default: random. */
  readonly ids?: Ids;
}

/** A request with its authenticated user. */
interface AuthenticatedRequest {
  readonly request: ApiRequest;
  readonly url: URL;
  readonly user: User;
  readonly attributes: Attributes;
  readonly staleBy: number;
}

export class Api {
  readonly registry: Registry;
  /** The faults to inject into requests. */
  readonly faults: Faults;
  /** Additional permissions of users and groups. Can be changed at any time. */
  readonly grants: Grant[] = [...kubeletApiAdmin];
  /** The resource usage behind `metrics.k8s.io`. Empty unless nodes are scraped. */
  readonly usages = new UsageHistory();
  readonly #types: Types = readTypes();
  readonly #tokens = new ServiceAccountTokens();
  readonly #options: ApiOptions;

  constructor(options: ApiOptions) {
    this.#options = options;
    this.registry = new Registry(options.clock, options.ids ?? randomIds);
    this.faults = new Faults(options.clock);
    createInitialObjects(this.registry);
  }

  /**
   * Compacts the history of events only. The kube-apiserver serves all other resources from its watch cache, which
   * retains their history when etcd is compacted.
   */
  compact(): void {
    this.registry.store.compact(['/events']);
  }

  /** Compacts the history of all resources, as a restart of the kube-apiserver does. */
  compactAll(): void {
    this.registry.store.compact();
  }

  /**
   * Handles a request. Errors are returned as responses. Rejects only with `ConnectionCut`, if a fault cuts the
   * connection.
   */
  async respond(request: ApiRequest): Promise<ApiResponse> {
    return await this.#respond(request, ({ attributes, user }, carryOut) =>
      this.faults.handle(attributes, user.name, carryOut),
    );
  }

  /** Handles a request without faults, for the cluster's controllers and the setup of tests. */
  async respondWithoutFaults(request: ApiRequest): Promise<ApiResponse> {
    return await this.#respond(request, (_context, carryOut) => carryOut(0));
  }

  async #respond(
    request: ApiRequest,
    around: (
      context: Omit<AuthenticatedRequest, 'staleBy'>,
      carryOut: (staleBy: number) => Promise<ApiResponse>,
    ) => Promise<ApiResponse>,
  ): Promise<ApiResponse> {
    const url = URL.parse(request.url, 'https://localhost');
    if (url === null) return errorResponse(badRequest('the path cannot be read'), PLAIN_JSON);
    const user = this.#userOf(request);
    if (user === undefined) return errorResponse(unauthorized(), PLAIN_JSON);
    const context = { request, url, user, attributes: attributesOf(request.method, url) };
    return await around(context, (staleBy) => this.#handle({ ...context, staleBy }));
  }

  #userOf({ user, headers, hasInvalidCertificate = false }: ApiRequest): User | undefined {
    if (user !== undefined) return authenticated(user);
    if (hasInvalidCertificate && !headers.has('authorization')) return undefined;
    return userOf(headers.get('authorization'), (token) => {
      const verdict = this.#reviewToken(token, []);
      return 'user' in verdict ? verdict.user : undefined;
    });
  }

  #reviewToken(token: string, audiences: readonly string[]): Verdict {
    const { store, clock } = this.registry;
    const wanted = audiences.length === 0 ? [ISSUER] : audiences;
    const user = this.#options.tokens.get(token);
    // The configured tokens have no audience other than this server.
    if (user !== undefined && wanted.includes(ISSUER)) return { user, audiences: [ISSUER] };
    return this.#tokens.review(token, wanted, store, clock.now());
  }

  get #authorizationData(): AuthorizationData {
    return { store: this.registry.store, grants: this.grants };
  }

  async #handle(context: AuthenticatedRequest): Promise<ApiResponse> {
    let form = PLAIN_JSON;
    try {
      const { url, user, attributes, request } = context;
      authorize(user, attributes, this.#authorizationData);
      const accept = request.headers.get('accept') ?? '';
      const plain = this.#plain(url.pathname, accept);
      if (plain !== undefined) return plainResponse(plain);
      form = representationOf(accept, url.searchParams);
      return await this.#handleAuthorized(context, form);
    } catch (error) {
      return errorResponse(error, form);
    }
  }

  #plain(pathname: string, accept: string): PlainResponse | undefined {
    const plain = plainPathResponse(pathname) ?? openApi(pathname, accept, this.#types);
    const root = pathname.replaceAll(/^\/|\/$/g, '');
    if (plain !== undefined || (root !== 'api' && root !== 'apis') || !prefersAggregated(accept)) return plain;
    return jsonResponse(aggregatedDiscovery(root), AGGREGATED_TYPE);
  }

  async #handleAuthorized(context: AuthenticatedRequest, form: Representation): Promise<ApiResponse> {
    const { pathname, searchParams: query } = context.url;
    const found = discovery(pathname, this.#options.address);
    if (found !== undefined) return objectResponse(200, found, form);
    const forward = forwardOf(context.request.method, context.url, this.registry.store);
    if (forward !== undefined) return forwardResponse(forward);
    const { target, isWatch } = requestedTarget(pathname);
    if (target === undefined) {
      if (isServedGroupPath(pathname)) throw resourceNotFound();
      return plainResponse(pageNotFound);
    }
    if (isWatch) query.set('watch', 'true');
    const handler = handlerOf(context.request.method, target, query);
    if (handler === undefined) throw methodNotAllowed();
    return await runHandler(handler, this.#call(context, target), form);
  }

  #call({ request, url, user, staleBy }: AuthenticatedRequest, target: Target): Call {
    return {
      registry: this.registry,
      types: this.#types,
      admission,
      strategy: strategyOf(target),
      target,
      user,
      query: url.searchParams,
      staleBy,
      issueToken: (claims) => this.#tokens.issue(claims, this.registry.clock.now()),
      reviewToken: (token, audiences) => {
        const verdict = this.#reviewToken(token, audiences);
        return 'user' in verdict ? { ...verdict, user: authenticated(verdict.user) } : verdict;
      },
      decide: (who, attributes) => decide(who, attributes, this.#authorizationData),
      usages: this.usages,
      body: bodyOf(request, target.resource, this.#types),
    };
  }
}

async function runHandler(handler: Handler, call: Call, form: Representation): Promise<ApiResponse> {
  if (handler.kind === 'watch') return watchResponse(handler.handle(call), call, form);
  const { code, object, warnings } = await handler.handle(call);
  return objectResponse(code, shapeObject(object, call, form), form, warnings);
}

/** The deprecated path prefix for watches. */
const WATCH_PREFIX = /^(\/api\/v1|\/apis\/[^/]+\/[^/]+)\/watch\//;

function requestedTarget(pathname: string): { readonly target: Target | undefined; readonly isWatch: boolean } {
  const isWatch = WATCH_PREFIX.test(pathname);
  return { target: targetOf(isWatch ? pathname.replace(WATCH_PREFIX, '$1/') : pathname), isWatch };
}
