/** An API server in memory for tests, independent of the transport. */

import type { TimerClock } from '../../base/clock.ts';
import { admission } from './admission/admission.ts';
import { AGGREGATED, aggregated, asksAggregated } from './aggregated.ts';
import { failed, forwardAnswer, PLAIN_JSON, plainly, streamed, whole } from './answers.ts';
import { ISSUER, ServiceAccountTokens, type Verdict } from './authentication/serviceAccountTokens.ts';
import { authenticated, unauthorized, userOf } from './authentication/tokens.ts';
import { type Attributes, attributesOf } from './authorization/attributes.ts';
import { authorize, decide, type Known } from './authorization/authorize.ts';
import { type Grant, kubeletApiAdmin } from './authorization/grants.ts';
import { bodyOf } from './body.ts';
import { forwarded } from './connect/connect.ts';
import { discovery, isKnownGroup } from './discovery.ts';
import { badRequest, methodNotAllowed, nothingThere } from './failures.ts';
import { Faults } from './faults.ts';
import { firstObjects } from './firstObjects.ts';
import type { Call } from './handlers/call.ts';
import { type Handler, handlerOf } from './handlers/handlers.ts';
import { UsageHistory } from './metrics/usageHistory.ts';
import { type Representation, representationOf } from './negotiation.ts';
import { openApi } from './openapi/documents.ts';
import { json, type PlainAnswer, pageNotFound, plainAnswer } from './plainPaths.ts';
import { type Ids, randomIds } from './registry/ids.ts';
import { Registry } from './registry/registry.ts';
import { strategyOf } from './registry/strategies/strategies.ts';
import type { Answer, ApiRequest, User } from './request.ts';
import { type Target, targetOf } from './resources/target.ts';
import { readTypes, type Types } from './schema/types.ts';
import { shaped } from './shapes.ts';

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
interface Asked {
  readonly request: ApiRequest;
  readonly url: URL;
  readonly user: User;
  readonly attributes: Attributes;
  readonly staleBy: number;
}

export class Api {
  readonly registry: Registry;
  /** The faults to inject. */
  readonly faults: Faults;
  /** Additional permissions of users and groups. May be changed at any time. */
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
    firstObjects(this.registry);
  }

  /**
   * Compacts the history, except for events, because a kube-apiserver caches watched resources when its storage is
   * compacted.
   */
  compact(): void {
    this.registry.store.compact(['/events']);
  }

  /** Compacts the whole history, as a restart of a kube-apiserver does. */
  forget(): void {
    this.registry.store.compact();
  }

  /**
   * Handles a request. Errors are responses, too. Rejects only with `ConnectionCut`, if a fault cuts the connection.
   */
  async answer(request: ApiRequest): Promise<Answer> {
    return await this.#answer(request, ({ attributes, user }, carryOut) =>
      this.faults.around(attributes, user.name, carryOut),
    );
  }

  /** Handles a request without faults, for the controllers of the cluster and the set-up of tests. */
  async act(request: ApiRequest): Promise<Answer> {
    return await this.#answer(request, (_asked, carryOut) => carryOut(0));
  }

  async #answer(
    request: ApiRequest,
    around: (asked: Omit<Asked, 'staleBy'>, carryOut: (staleBy: number) => Promise<Answer>) => Promise<Answer>,
  ): Promise<Answer> {
    const url = URL.parse(request.url, 'https://localhost');
    if (url === null) return failed(badRequest('the path cannot be read'), PLAIN_JSON);
    const user = this.#userOf(request);
    if (user === undefined) return failed(unauthorized(), PLAIN_JSON);
    const asked = { request, url, user, attributes: attributesOf(request.method, url) };
    return await around(asked, (staleBy) => this.#carriedOut({ ...asked, staleBy }));
  }

  #userOf({ user, headers, isDoubtful = false }: ApiRequest): User | undefined {
    if (user !== undefined) return authenticated(user);
    if (isDoubtful && !headers.has('authorization')) return undefined;
    return userOf(headers.get('authorization'), (token) => {
      const verdict = this.#reviewed(token, []);
      return 'user' in verdict ? verdict.user : undefined;
    });
  }

  #reviewed(token: string, audiences: readonly string[]): Verdict {
    const { store, clock } = this.registry;
    const wanted = audiences.length === 0 ? [ISSUER] : audiences;
    const user = this.#options.tokens.get(token);
    // Users' tokens are only valid for this server.
    if (user !== undefined && wanted.includes(ISSUER)) return { user, audiences: [ISSUER] };
    return this.#tokens.review(token, wanted, store, clock.now());
  }

  get #known(): Known {
    return { store: this.registry.store, grants: this.grants };
  }

  async #carriedOut(asked: Asked): Promise<Answer> {
    let form = PLAIN_JSON;
    try {
      const { url, user, attributes, request } = asked;
      authorize(user, attributes, this.#known);
      const accept = request.headers.get('accept') ?? '';
      const plain = this.#plain(url.pathname, accept);
      if (plain !== undefined) return plainly(plain);
      form = representationOf(accept, url.searchParams);
      return await this.#answered(asked, form);
    } catch (error) {
      return failed(error, form);
    }
  }

  #plain(pathname: string, accept: string): PlainAnswer | undefined {
    const plain = plainAnswer(pathname) ?? openApi(pathname, accept, this.#types);
    const root = pathname.replaceAll(/^\/|\/$/g, '');
    if (plain !== undefined || (root !== 'api' && root !== 'apis') || !asksAggregated(accept)) return plain;
    return json(aggregated(root), AGGREGATED);
  }

  async #answered(asked: Asked, form: Representation): Promise<Answer> {
    const { pathname, searchParams: query } = asked.url;
    const found = discovery(pathname, this.#options.address);
    if (found !== undefined) return whole(200, found, form);
    const forward = forwarded(asked.request.method, asked.url, this.registry.store);
    if (forward !== undefined) return forwardAnswer(forward);
    const { target, isWatch } = targetAsked(pathname);
    if (target === undefined) {
      if (isKnownGroup(pathname)) throw nothingThere();
      return plainly(pageNotFound);
    }
    if (isWatch) query.set('watch', 'true');
    const handler = handlerOf(asked.request.method, target, query);
    if (handler === undefined) throw methodNotAllowed();
    return await handled(handler, this.#call(asked, target), form);
  }

  #call({ request, url, user, staleBy }: Asked, target: Target): Call {
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
        const verdict = this.#reviewed(token, audiences);
        return 'user' in verdict ? { ...verdict, user: authenticated(verdict.user) } : verdict;
      },
      decide: (who, attributes) => decide(who, attributes, this.#known),
      usages: this.usages,
      body: bodyOf(request, target.resource, this.#types),
    };
  }
}

async function handled(handler: Handler, call: Call, form: Representation): Promise<Answer> {
  if (handler.kind === 'watch') return streamed(handler.handle(call), call, form);
  const { code, object, warnings } = await handler.handle(call);
  return whole(code, shaped(object, call, form), form, warnings);
}

/** The deprecated path prefix for watches. */
const WATCH_PREFIX = /^(\/api\/v1|\/apis\/[^/]+\/[^/]+)\/watch\//;

function targetAsked(pathname: string): { readonly target: Target | undefined; readonly isWatch: boolean } {
  const isWatch = WATCH_PREFIX.test(pathname);
  return { target: targetOf(isWatch ? pathname.replace(WATCH_PREFIX, '$1/') : pathname), isWatch };
}
