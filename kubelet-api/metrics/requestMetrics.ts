/** Requests: those to the API server, and those that the node's own API is asked. */
import type { TimedRequest } from '../../kubeclient/timedTransport.ts';
import type { RequestListener } from '../listener/server.ts';
import { OF_BODIES, OF_REQUESTS, USUAL } from './buckets.ts';
import { alpha, type Registry } from './registry.ts';

/** Told of each request to the API server (`component-base/metrics/prometheus/restclient/metrics.go`). */
export function kubeRequests(registry: Registry): (request: TimedRequest) => void {
  const total = registry.counter(
    alpha('rest_client_requests_total', 'Requests to the API server, by code and method.', ['code', 'method', 'host']),
  );
  const duration = registry.histogram(
    alpha('rest_client_request_duration_seconds', 'How long the API server takes to answer, by method.', [
      'verb',
      'host',
    ]),
    OF_REQUESTS,
  );
  const size = registry.histogram(
    alpha('rest_client_request_size_bytes', 'Size of the bodies of requests to the API server, by method.', [
      'verb',
      'host',
    ]),
    OF_BODIES,
  );
  return ({ method, host, code, ms, sentBytes }) => {
    size.observe([method, host], sentBytes);
    total.add([code === undefined ? '<error>' : String(code), method, host]);
    duration.observe([method, host], ms / 1_000);
  };
}

const METHODS: readonly string[] = ['OPTIONS', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'TRACE', 'CONNECT'];
/** The first parts of the paths that there are: whoever asks for others names no series. */
const PATHS: readonly string[] = [
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
/** As a kubelet has them, where `portForward` is another name. */
const LONG: readonly string[] = ['exec', 'attach', 'portforward', 'debug'];

const STREAMS: readonly string[] = ['exec', 'attach', 'portForward'];

/** The class of a path that a kubelet counts it in (`getMetricBucket` in `pkg/kubelet/server/server.go`). */
export function pathClass(target: string): string {
  const [first = '', second] = target
    .replace(/[?#].*$/s, '')
    .replace(/^\//, '')
    .split('/', 2);
  const root = first === 'metrics' && second !== undefined ? `${first}/${second}` : first;
  return PATHS.includes(root) ? root : 'other';
}

/** Told of each request to a server of the node, be it the one that everybody may ask. */
export function servedRequests(registry: Registry): (server: 'readonly' | 'readwrite') => RequestListener {
  const labels = ['method', 'path', 'server_type', 'long_running'];
  const total = registry.counter(alpha('kubelet_http_requests_total', 'Requests to the node.', labels));
  const open = registry.gauge(alpha('kubelet_http_inflight_requests', 'Requests to the node that are open.', labels));
  const duration = registry.histogram(
    alpha('kubelet_http_requests_duration_seconds', 'How long requests to the node take.', labels),
    USUAL,
  );
  const webSockets = registry.counter(
    alpha('kubelet_websocket_streaming_requests_total', 'Requests for exec, attach and port-forward by WebSocket.', [
      'subresource',
    ]),
  );
  return (server) =>
    ({ method, target, isWebSocket = false }) => {
      const path = pathClass(target);
      if (isWebSocket && STREAMS.includes(path)) webSockets.add([path.toLowerCase()]);
      const values = [METHODS.includes(method) ? method : 'other', path, server, String(LONG.includes(path))];
      total.add(values);
      open.add(values, 1);
      return (ms) => {
        open.add(values, -1);
        duration.observe(values, ms / 1_000);
      };
    };
}
