/** Measures the authentication and authorization of requests to the node. */
import type { Clock } from '../../../base/time/clock.ts';
import type { AccessObserver } from '../../access/accessObserver.ts';
import { DEFAULT_BUCKETS, EXPIRATION_BUCKETS, REVIEW_BUCKETS } from '../buckets.ts';
import { alpha, type Registry } from '../registry.ts';

/** Registers the metrics and returns the observer to pass to `createAccess`. */
export function registerAccessMetrics(registry: Registry, clock: Pick<Clock, 'monotonic'>): AccessObserver {
  const certificates = registry.histogram(
    alpha(
      'apiserver_client_certificate_expiration_seconds',
      'Remaining life of the client certificates that requests to the node come with.',
    ),
    EXPIRATION_BUCKETS,
  );
  const familiesByKind = {
    authn: registerReviewFamilies(registry, 'authn'),
    authz: registerReviewFamilies(registry, 'authz'),
  };
  return {
    certificatePresented: (remainingMs) => certificates.observe([], remainingMs / 1_000),
    reviewCompleted: (kind, code, ms) => {
      const labels = [code === undefined ? '<error>' : String(code)];
      familiesByKind[kind].total.add(labels);
      familiesByKind[kind].duration.observe(labels, ms / 1_000);
    },
    tokenCache: createTokenCacheObserver(registry, clock),
  };
}

const REVIEW_KINDS = { authn: 'TokenReviews', authz: 'SubjectAccessReviews' };

/**
 * Registers the metric families for one kind of review (`authenticatorfactory/metrics.go`,
 * `authorizerfactory/metrics.go` of apiserver).
 */
function registerReviewFamilies({ counter, histogram }: Registry, kind: 'authn' | 'authz') {
  const name = `apiserver_delegated_${kind}_request`;
  return {
    total: counter(
      alpha(`${name}_total`, `${REVIEW_KINDS[kind]} requested from the API server, by status code.`, ['code']),
    ),
    duration: histogram(
      alpha(`${name}_duration_seconds`, `Duration of requests for ${REVIEW_KINDS[kind]}, by status code.`, ['code']),
      REVIEW_BUCKETS,
    ),
  };
}

/** Creates the observer of the token cache (`token/cache/stats.go` of apiserver). */
function createTokenCacheObserver(registry: Registry, clock: Pick<Clock, 'monotonic'>): AccessObserver['tokenCache'] {
  const labels = ['status'];
  const createCacheOptions = (name: string, help: string) => alpha(`authentication_token_cache_${name}`, help, labels);
  const requestsCounter = registry.counter(
    createCacheOptions('request_total', 'Lookups of tokens in the cache of reviews, by hit or miss.'),
  );
  const duration = registry.histogram(
    createCacheOptions(
      'request_duration_seconds',
      'Time until the owner of a token was known, by whether the cache had it.',
    ),
    DEFAULT_BUCKETS,
  );
  const fetchesCounter = registry.counter(
    createCacheOptions('fetch_total', 'Reviews of tokens that the cache did not have, by outcome.'),
  );
  const activeGauge = registry.gauge(
    createCacheOptions('active_fetch_count', 'Reviews of tokens in progress, and requests that wait for one.'),
  );
  const startActive = (status: string) => {
    activeGauge.add([status], 1);
    return () => activeGauge.add([status], -1);
  };
  return {
    startLookup: () => {
      const startedAt = clock.monotonic();
      return (isHit) => {
        const status = [isHit ? 'hit' : 'miss'];
        requestsCounter.add(status);
        duration.observe(status, (clock.monotonic() - startedAt) / 1_000);
      };
    },
    startWaiting: () => startActive('blocked'),
    startFetch: () => {
      const stopActive = startActive('in_flight');
      return (isAnswered) => {
        fetchesCounter.add([isAnswered ? 'ok' : 'error']);
        stopActive();
      };
    },
  };
}
