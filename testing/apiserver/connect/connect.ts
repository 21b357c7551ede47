/**
 * Requests that the kube-apiserver forwards to a node (`registry/core/pod/strategy.go`, `registry/core/node` of
 * kubernetes).
 */
import { badRequest, notFound, unavailable } from '../failures/failures.ts';
import { type JsonObject, numberAt, objectAt, textAt } from '../json.ts';
import { isTrue } from '../options/writeOptions.ts';
import { objectsAt, specOf } from '../registry/strategies/parts.ts';
import { resourceNamed } from '../resources/resources.ts';
import type { Store } from '../store/store.ts';
import type { Forward, ForwardedStreams, NodeAddress } from './forward.ts';

const POD_PATH = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)\/(exec|attach|portforward|log)$/;
const NODE_PATH = /^\/api\/v1\/nodes\/([^/]+)\/proxy(\/.*)?$/;
const METHODS: ReadonlySet<string> = new Set(['GET', 'POST']);

type Kind = Exclude<Forward['kind'], 'proxy'>;

/**
 * Returns the node and path to which a request is forwarded, or undefined if the request is not forwarded. Throws a
 * `Failure` if the target is missing.
 */
export function forwardOf(method: string, { pathname, search, searchParams }: URL, store: Store): Forward | undefined {
  const [, node, below = '/'] = NODE_PATH.exec(pathname) ?? [];
  if (node !== undefined) return { kind: 'proxy', node: addressOf(node, store), path: `${below}${search}` };
  const [, namespace, pod, kind] = POD_PATH.exec(pathname) ?? [];
  if (namespace === undefined || pod === undefined) return undefined;
  // Safe cast, because the pattern matches only these kinds.
  const forwardKind = kind as Kind;
  if (forwardKind === 'log' ? method !== 'GET' : !METHODS.has(method)) return undefined;
  return forwardToPod(forwardKind, { namespace, pod }, searchParams, store);
}

interface PodName {
  readonly namespace: string;
  readonly pod: string;
}

function forwardToPod(kind: Kind, { namespace, pod: name }: PodName, query: URLSearchParams, store: Store): Forward {
  const pod = store.get('/pods', namespace, name);
  const about = resourceNamed('', 'v1', 'pods');
  if (pod === undefined) throw about === undefined ? badRequest('no pods are served') : notFound(about, name);
  const container = kind === 'portforward' ? '' : containerOf(pod, name, query.get('container') ?? '');
  const nodeName = textAt(specOf(pod), 'nodeName');
  if (nodeName === '') throw badRequest(`pod ${name} does not have a host assigned`);
  const node = addressOf(nodeName, store);
  const path = `/${KUBELET_PATHS[kind]}/${namespace}/${name}${container === '' ? '' : `/${container}`}`;
  switch (kind) {
    case 'log':
      return { kind, node, path: withQuery(path, logQuery(query)), pod: name };
    case 'portforward':
      return { kind, node, path: withQuery(path, portQuery(query)) };
    default: {
      const streams = streamsOf(query);
      return { kind, node, path: withQuery(path, streamQuery(streams, query)), streams };
    }
  }
}

const KUBELET_PATHS: Readonly<Record<Kind, string>> = {
  exec: 'exec',
  attach: 'attach',
  portforward: 'portForward',
  log: 'containerLogs',
};

const withQuery = (path: string, query: URLSearchParams): string => (query.size === 0 ? path : `${path}?${query}`);

/**
 * Returns the requested container, or the only one if none is requested (`validateContainer`). Throws a `Failure` if
 * the container is unknown or ambiguous.
 */
function containerOf(pod: JsonObject, name: string, requested: string): string {
  const spec = specOf(pod);
  const named = (field: string) => objectsAt(spec, field).map((each) => textAt(each, 'name'));
  const all = ['initContainers', 'containers', 'ephemeralContainers'].flatMap(named);
  if (requested !== '') {
    if (all.includes(requested)) return requested;
    throw badRequest(`container ${requested} is not valid for pod ${name}`);
  }
  const [first = '', ...more] = named('containers');
  if (more.length === 0) return first;
  throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${all.join(' ')}]`);
}

function streamsOf(query: URLSearchParams): ForwardedStreams {
  const isRequested = (name: string) => isTrue(query.get(name));
  return {
    stdin: isRequested('stdin'),
    stdout: isRequested('stdout'),
    stderr: isRequested('stderr'),
    tty: isRequested('tty'),
  };
}

function streamQuery({ stdin, stdout, stderr, tty }: ForwardedStreams, query: URLSearchParams): URLSearchParams {
  const flags = Object.entries({ input: stdin, output: stdout, error: stderr, tty });
  const enabled = flags.flatMap(([name, is]) => (is ? [[name, '1'] as [string, string]] : []));
  return new URLSearchParams([
    ...enabled,
    ...query.getAll('command').map((each) => ['command', each] as [string, string]),
  ]);
}

function portQuery(query: URLSearchParams): URLSearchParams {
  const ports = query.getAll('ports');
  return new URLSearchParams(ports.length === 0 ? [] : [['port', ports.join(',')]]);
}

const LOG_FLAGS = ['follow', 'previous', 'timestamps'];
const LOG_VALUES = ['sinceSeconds', 'sinceTime', 'tailLines', 'limitBytes', 'stream'];

function logQuery(query: URLSearchParams): URLSearchParams {
  const flags = LOG_FLAGS.flatMap((name) => (isTrue(query.get(name)) ? [[name, 'true'] as [string, string]] : []));
  const values = LOG_VALUES.flatMap((name) =>
    query.has(name) ? [[name, query.get(name) ?? ''] as [string, string]] : [],
  );
  return new URLSearchParams([...flags, ...values]);
}

/** A node name may have a port suffix and a scheme prefix. */
const NODE_REFERENCE = /^(?:https:)?([^:]+)(?::(\d*))?$/;

function addressOf(text: string, store: Store): NodeAddress {
  const [, name = '', port = ''] = NODE_REFERENCE.exec(decodeURIComponent(text)) ?? [];
  const address = nodeAddress(name, store);
  return { ...address, port: Number(port) || address.port };
}

/** Returns the addresses of a node's kubelet. Throws a `Failure` if they are unknown. */
export function nodeAddress(name: string, store: Store): NodeAddress {
  const node = store.get('/nodes', undefined, name);
  const about = resourceNamed('', 'v1', 'nodes');
  if (node === undefined) throw about === undefined ? badRequest('no nodes are served') : notFound(about, name);
  const status = objectAt(node, 'status');
  const { declaredFeatures: declared } = status;
  const addresses = new Map(
    objectsAt(status, 'addresses').map((each) => [textAt(each, 'type'), textAt(each, 'address')]),
  );
  if (addresses.size === 0) throw unavailable(`no preferred addresses found; known addresses: []`);
  const endpoint = objectAt(objectAt(status, 'daemonEndpoints'), 'kubeletEndpoint');
  return {
    name,
    addresses,
    port: numberAt(endpoint, 'Port') || DEFAULT_PORT,
    speaksWebSockets: Array.isArray(declared) && declared.includes('ExtendWebSocketsToKubelet'),
  };
}

const DEFAULT_PORT = 10_250;
