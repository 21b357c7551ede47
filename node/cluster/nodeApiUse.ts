import { type Failure, toFailure } from '../../base/failure.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Access } from '../../kubelet-api/access/access.ts';
import { Scrapes } from '../../kubelet-api/scrapes.ts';
import { StreamSessions } from '../../kubelet-api/sessions.ts';
import type { ServedReviews, ServedView } from '../../show/explain/explainServing.ts';
import type { ServingConfig } from '../config/compile/serving.ts';

type AccessConfig = Pick<ServingConfig, 'authentication' | 'authorization'>;

/** Tracks the use of the node's own API, so that `explain node` can report it. */
export class NodeApiUse {
  readonly sessions = new StreamSessions();
  readonly scrapes: Scrapes;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #config: AccessConfig;
  #servingSince: number;
  #port = 0;
  #lastFailure: Failure | undefined;
  #apiAccess: Pick<Access, 'counts'> | undefined;

  constructor(clock: Pick<Clock, 'now'>, config: AccessConfig) {
    this.#clock = clock;
    this.#config = config;
    this.#servingSince = clock.now();
    this.scrapes = new Scrapes(() => clock.now());
  }

  get port(): number {
    return this.#port;
  }

  /** Records the port on which the API is served. */
  setPort(port: number): void {
    this.#port = port;
    this.#servingSince = this.#clock.now();
  }

  setFailure(error: unknown): void {
    this.#lastFailure = toFailure(error, this.#clock.now());
  }

  /** Includes the review counts of `access` in the view. */
  trackAccess<T extends Pick<Access, 'counts'>>(access: T): T {
    this.#apiAccess = access;
    return access;
  }

  view(): ServedView {
    const lastFailure = this.#lastFailure;
    return {
      since: this.#servingSince,
      port: this.#port,
      sessions: this.sessions.open,
      scrapes: this.scrapes.scrapes,
      ...(lastFailure === undefined ? {} : { lastFailure }),
      reviews: this.#readReviews(),
    };
  }

  #readReviews(): Readonly<Record<string, ServedReviews>> {
    const reviewCounts = this.#apiAccess?.counts();
    if (reviewCounts === undefined) return {};
    const { authentication, authorization } = this.#config;
    const sendsAccessReviews = authorization.mode === 'Webhook';
    return {
      ...(authentication.webhook === undefined ? {} : { tokens: reviewCounts.tokens }),
      ...(sendsAccessReviews ? { access: reviewCounts.access } : {}),
    };
  }
}
