/**
 * Serves the pod-resources API, which lists the exclusive devices, CPUs and memory of containers for monitoring agents
 * (`pkg/kubelet/apis/podresources`). Imported on demand, because this module needs the gRPC server.
 */
import { type handleUnaryCall, Server, ServerCredentials, type ServiceDefinition, status } from '@grpc/grpc-js';
import type { Clock } from '../../base/clock.ts';
import { RateLimit } from '../../kubeclient/rateLimit.ts';
import { isSidecar } from '../../kubernetes/api/containers.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { nonTerminatedPods } from '../../kubernetes/node/nodeUse.ts';
import { decodePodAsked, encodeNothing, encodePods, type PodAsked, type PodResources } from './messages.ts';

export interface PodResourcesParts {
  readonly pods: () => readonly Pod[];
  readonly clock: Clock;
  /** Called for each request that the rate limit admits, before the response. */
  readonly onRequest?: PodResourcesListener | undefined;
}

/** Counts a request. The returned function must be called if the request fails. */
export type PodResourcesListener = (
  version: 'v1' | 'v1alpha1',
  method: 'list' | 'get' | 'get_allocatable',
) => () => void;

/** Maximum size of a request, in bytes. Larger requests are rejected. A request contains at most two names. */
const LONGEST_REQUEST = 4_096;
/** The kubelet's rate limit (`constants.go` in `pkg/kubelet/apis/podresources`). */
const RATE = { qps: 100, burst: 10 };

/** Listens on a Unix socket at a path that must not exist. Rejects if listening fails. */
export async function listenPodResources(path: string, parts: PodResourcesParts): Promise<{ close(): Promise<void> }> {
  const server = new Server({ 'grpc.max_receive_message_length': LONGEST_REQUEST });
  const limit = new RateLimit(RATE, parts.clock);
  const { onRequest = () => () => {} } = parts;
  const unary = <Request>(
    [version, method]: Parameters<PodResourcesListener>,
    answer: (request: Request) => Buffer,
  ): handleUnaryCall<Request, Buffer> => {
    return ({ request }, done) => {
      if (!limit.tryTake()) return done({ code: status.RESOURCE_EXHAUSTED, details: 'rejected by rate limit' });
      const failed = onRequest(version, method);
      answered(() => answer(request), { done, failed });
    };
  };
  server.addService(V1, {
    list: unary(['v1', 'list'], () => encodePods(nonTerminatedPods(parts.pods()).map(withSidecars))),
    get: unary(['v1', 'get'], (asked: PodAsked) => encodePods([withSidecars(podAsked(parts.pods(), asked))])),
    getAllocatableResources: unary(['v1', 'get_allocatable'], encodeNothing),
  });
  server.addService(V1_ALPHA1, {
    list: unary(['v1alpha1', 'list'], () => encodePods(parts.pods().map(withoutSidecars))),
  });
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error, port) =>
    error ? reject(error) : resolve(port),
  );
  await promise;
  return { close: async () => server.forceShutdown() };
}

interface Answering {
  readonly done: Parameters<handleUnaryCall<unknown, Buffer>>[1];
  readonly failed: () => void;
}

function answered(answer: () => Buffer, { done, failed }: Answering): void {
  try {
    done(null, answer());
  } catch (error) {
    failed();
    done({ code: status.UNKNOWN, details: error instanceof NotFound ? error.message : 'the answer has failed' });
  }
}

class NotFound extends Error {}

function podAsked(pods: readonly Pod[], { name, namespace }: PodAsked): Pod {
  const match = pods.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
  if (match === undefined) throw new NotFound(`pod ${name} in namespace ${namespace} not found`);
  return match;
}

/** Lists the sidecar containers first, then the others. */
function withSidecars(pod: Pod): PodResources {
  const sidecars = (pod.spec.initContainers ?? []).filter(isSidecar);
  return { ...withoutSidecars(pod), containers: [...sidecars, ...pod.spec.containers].map(({ name }) => name) };
}

const withoutSidecars = ({ metadata: { name, namespace }, spec }: Pod): PodResources => ({
  name,
  namespace,
  containers: spec.containers.map((container) => container.name),
});

const method = <Request>(path: string, requestDeserialize: (bytes: Buffer) => Request) => ({
  path,
  requestStream: false,
  responseStream: false,
  requestDeserialize,
  responseSerialize: (bytes: Buffer) => bytes,
  // Required by the type, but only used by clients.
  requestSerialize: () => Buffer.alloc(0),
  responseDeserialize: (bytes: Buffer) => bytes,
});

/** Decodes a request without fields. */
const nothing = () => ({});

const V1 = {
  list: method('/v1.PodResourcesLister/List', nothing),
  get: method('/v1.PodResourcesLister/Get', decodePodAsked),
  getAllocatableResources: method('/v1.PodResourcesLister/GetAllocatableResources', nothing),
} satisfies ServiceDefinition;

const V1_ALPHA1 = { list: method('/v1alpha1.PodResourcesLister/List', nothing) } satisfies ServiceDefinition;
