/** Measures requests to the API server and requests to the node's own API. */
import type { RequestObserver } from '../../../kubeclient/requestObserver.ts';
import type { RequestListener } from '../../listener/server.ts';
import { BODY_SIZE_BUCKETS, DEFAULT_BUCKETS, REQUEST_BUCKETS } from '../buckets.ts';
import { alpha, type Registry } from '../registry.ts';

/**
 * Registers the metrics and returns a function that creates the observer of the requests to a host
 * (`component-base/metrics/prometheus/restclient/metrics.go`).
 */
export function registerKubeRequestMetrics(registry: Registry): (host: string) => RequestObserver {
  const [total, retries] = [
    registry.counter(
      alpha('rest_client_requests_total', 'Requests to the API server, by status code and method.', [
        'code',
        'method',
        'host',
      ]),
    ),
    registry.counter(
      alpha('rest_client_request_retries_total', 'Retries of requests to the API server, by status code and method.', [
        'code',
        'verb',
        'host',
      ]),
    ),
  ];
  const createHistogram = (name: string, help: string, bounds: readonly number[]) =>
    registry.histogram(alpha(`rest_client_${name}`, help, ['verb', 'host']), bounds);
  const duration = createHistogram(
    'request_duration_seconds',
    'Duration of requests to the API server with their waits and retries, by method.',
    REQUEST_BUCKETS,
  );
  const throttlingHistogram = createHistogram(
    'rate_limiter_duration_seconds',
    'Time that requests to the API server waited for the rate limit of the node, by method.',
    REQUEST_BUCKETS,
  );
  const requestSizeHistogram = createHistogram(
    'request_size_bytes',
    'Size of the bodies of requests to the API server, by method.',
    BODY_SIZE_BUCKETS,
  );
  const responseSizeHistogram = createHistogram(
    'response_size_bytes',
    'Size of the bodies of responses of the API server, by method.',
    BODY_SIZE_BUCKETS,
  );
  return (host) => ({
    onRateLimited: (method, ms) => throttlingHistogram.observe([method, host], ms / 1_000),
    onAttempt: ({ method, code, isRetry, sentBytes }) => {
      const labels = [code === undefined ? '<error>' : String(code), method, host];
      total.add(labels);
      if (isRetry) retries.add(labels);
      if (sentBytes !== undefined) requestSizeHistogram.observe([method, host], sentBytes);
    },
    onResponse: (method, bytes) => responseSizeHistogram.observe([method, host], bytes),
    onCompleted: (method, ms) => duration.observe([method, host], ms / 1_000),
  });
}

/**
 * Registers the counter of the transports to API servers, and returns a function that increments it. The result is
 * always `uncacheable`, because each transport is created only once and none is cached (`tlsTransportCache.get` in
 * `client-go/transport/cache.go`).
 */
export function registerTransportMetrics(registry: Registry): () => void {
  const calls = registry.counter(
    alpha('rest_client_transport_create_calls_total', 'Transports to API servers, by their use of a cache.', [
      'result',
    ]),
  );
  return () => calls.add(['uncacheable']);
}

const HTTP_METHODS: readonly string[] = ['OPTIONS', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'TRACE', 'CONNECT'];
/**
 * Label values for the first segment of a path. All other paths share one label, because clients must not be able to
 * create arbitrary series.
 */
const LABELED_PATHS: readonly string[] = [
  'attach',
  'checkpoint',
  'configz',
  'containerLogs',
  'debug',
  'exec',
  'flagz',
  'healthz',
  'logs',
  'metrics',
  'metrics/cadvisor',
  'metrics/probes',
  'metrics/resource',
  'pods',
  'portForward',
  'run',
  'runningpods',
  'stats',
  'statusz',
];
/**
 * Labels of long-running requests, as listed by the kubelet. `portforward` never matches, because port-forward requests
 * are labelled `portForward`.
 */
const LONG_RUNNING_PATHS: readonly string[] = ['exec', 'attach', 'portforward', 'debug'];

const STREAM_PATHS: readonly string[] = ['exec', 'attach', 'portForward'];

/** Returns the kubelet's label for a path (`getMetricBucket` in `pkg/kubelet/server/server.go`). */
export function pathLabel(target: string): string {
  const [first = '', second] = target
    .replace(/[?#].*$/s, '')
    .replace(/^\//, '')
    .split('/', 2);
  const pathRoot = first === 'metrics' && second !== undefined ? `${first}/${second}` : first;
  return LABELED_PATHS.includes(pathRoot) ? pathRoot : 'other';
}

/** Creates the listener for requests to each of the node's HTTP servers, including the read-only one. */
export function registerServedRequestMetrics(
  registry: Registry,
): (server: 'readonly' | 'readwrite') => RequestListener {
  const labels = ['method', 'path', 'server_type', 'long_running'];
  const requestsCounter = registry.counter(alpha('kubelet_http_requests_total', 'Requests to the node.', labels));
  const openRequestsGauge = registry.gauge(
    alpha('kubelet_http_inflight_requests', 'Requests to the node in progress.', labels),
  );
  const duration = registry.histogram(
    alpha('kubelet_http_requests_duration_seconds', 'Duration of requests to the node.', labels),
    DEFAULT_BUCKETS,
  );
  const webSocketsCounter = registry.counter(
    alpha('kubelet_websocket_streaming_requests_total', 'Requests for exec, attach and port-forward by WebSocket.', [
      'subresource',
    ]),
  );
  return (server) =>
    ({ method, target, isWebSocket = false }) => {
      const path = pathLabel(target);
      if (isWebSocket && STREAM_PATHS.includes(path)) webSocketsCounter.add([path.toLowerCase()]);
      const labelValues = [
        HTTP_METHODS.includes(method) ? method : 'other',
        path,
        server,
        String(LONG_RUNNING_PATHS.includes(path)),
      ];
      requestsCounter.add(labelValues);
      openRequestsGauge.add(labelValues, 1);
      return (ms) => {
        openRequestsGauge.add(labelValues, -1);
        duration.observe(labelValues, ms / 1_000);
      };
    };
}
