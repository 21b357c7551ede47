/**
 * Serves GET /containerLogs/{namespace}/{pod}/{container} (`pkg/kubelet/server/server.go`,
 * `pkg/kubelet/kubelet_pods.go`).
 */

import { messageOf, NodeFailure } from '../../../base/failure.ts';
import { quotedText } from '../../../base/text/quotedText.ts';
import type { Cri } from '../../../cri/client/calls.ts';
import { runtimeMessageWithCode } from '../../../cri/client/failure.ts';
import { ContainerState, type ContainerStatus } from '../../../cri/generated/runtime.ts';
import type { Pause } from '../../../host/logs/logChanges.ts';
import { findContainerByName } from '../../../kubernetes/api/pods/containers.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { selectRun } from '../../../show/containerLog.ts';
import { sendText } from '../../answers.ts';
import type { Exchange, HttpResponse, Route } from '../../exchange.ts';
import type { StreamSessions } from '../../sessions.ts';
import { writeAll } from '../../writeAll.ts';
import { isRefusal, type LogQuery, parseLogQuery, type Refusal } from './logQuery.ts';
import { readLog } from './readLog.ts';

export interface ContainerLogsParts {
  readonly pods: {
    /** Returns the pod with the given name, including its current status. Undefined if the node has no such pod. */
    readonly findPod: (namespace: string, name: string) => Pod | undefined;
  };
  readonly cri: Pick<Cri, 'containerStatus'>;
  /** Directories that may contain logs. Symlinks that lead out of them are not followed. */
  readonly logRoots: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly pause: Pause;
  /** Whether the feature gate PodLogsQuerySplitStreams is enabled. */
  readonly canSplitStreams: boolean;
  /** Tracks the clients that follow a log. */
  readonly sessions?: Pick<StreamSessions, 'start'>;
}

const CONTAINER_LOGS_PATH = '/containerLogs';

export const containerLogsRoute = (parts: ContainerLogsParts): Route => ({
  pathPrefix: CONTAINER_LOGS_PATH,
  methods: ['GET'],
  handle: (exchange) => handleRequest(parts, exchange),
});

interface LogRequest {
  readonly query: LogQuery;
  readonly pod: Pod;
  readonly container: string;
}

async function handleRequest(parts: ContainerLogsParts, exchange: Exchange): Promise<void> {
  const { response } = exchange;
  const logRequest = parseRequest(parts, exchange.url);
  if (isRefusal(logRequest)) return sendText(response, { code: logRequest.status, text: logRequest.text });
  const id = findContainerId(logRequest);
  // Send the responses below without a content type, as the kubelet does.
  if (typeof id !== 'string') return sendUntypedRefusal(response, id);
  // Send the headers immediately, unless only stderr is requested.
  if (logRequest.query.stream !== 'Stderr') response.flushHeaders?.();
  const endSession = logRequest.query.follow ? registerSession(parts, exchange, logRequest) : undefined;
  try {
    await writeAll(response, await openLogStream(parts, logRequest.query, id, exchange.signal), exchange.signal);
    response.end();
  } catch (error) {
    if (!response.headersSent) sendUntypedRefusal(response, { status: 400, text: errorText(error) });
    else response.end(errorText(error));
  } finally {
    endSession?.();
  }
}

function registerSession({ sessions, now }: ContainerLogsParts, { caller }: Exchange, { pod, container }: LogRequest) {
  const { namespace, name } = pod.metadata;
  return sessions?.start({ kind: 'logs', namespace, pod: name, container, caller: caller.name, since: now() });
}

function sendUntypedRefusal(response: HttpResponse, { status, text }: Refusal): void {
  response.writeHead(status);
  response.flushHeaders?.();
  response.end(text);
}

function parseRequest({ pods, now, canSplitStreams }: ContainerLogsParts, url: URL): LogRequest | Refusal {
  const [namespace, name, container, ...more] = splitPath(url.pathname);
  if (!namespace || !name || !container || more.length > 0) return { status: 404, text: '404: Page Not Found' };
  const query = parseLogQuery(url.searchParams, now());
  if (isRefusal(query)) return query;
  const pod = pods.findPod(namespace, name);
  if (pod === undefined) return { status: 404, text: `pod ${quotedText(name)} does not exist` };
  if (findContainerByName(pod.spec, container) === undefined)
    return { status: 404, text: `container ${quotedText(container)} not found in pod ${quotedText(name)}` };
  return query.stream === 'All' || canSplitStreams ? { query, pod, container } : streamRefusal(query.stream);
}

function streamRefusal(stream: string): Refusal {
  const gateMessage = 'Please enable PodLogsQuerySplitStreams feature gate in kubelet';
  return { status: 400, text: `unable to return the given log stream: ${quotedText(stream)}. ${gateMessage}` };
}

function splitPath(pathname: string): string[] {
  try {
    const path = decodeURIComponent(pathname.slice(CONTAINER_LOGS_PATH.length + 1));
    return (path.endsWith('/') ? path.slice(0, -1) : path).split('/');
  } catch {
    return [];
  }
}

function findContainerId({ pod, container, query: { previous } }: LogRequest): string | Refusal {
  try {
    return selectRun(pod, container, { previous }).id;
  } catch (error) {
    return { status: 400, text: messageOf(error) };
  }
}

async function openLogStream(parts: ContainerLogsParts, query: LogQuery, id: string, signal: AbortSignal) {
  const { logRoots, pause } = parts;
  const status = await getContainerStatus(parts, id, signal).catch((cause: unknown) => {
    throw new Error(`unable to retrieve container logs for ${id}`, { cause });
  });
  const isRunning = async () => {
    try {
      return (await getContainerStatus(parts, id, signal)).state === ContainerState.CONTAINER_RUNNING;
    } catch (error) {
      if (error instanceof NodeFailure && error.reason === 'RuntimeUnavailable') return true;
      throw error;
    }
  };
  const followOptions = query.follow ? { isRunning } : undefined;
  return readLog({ path: status.logPath, allowedRoots: logRoots }, { ...query, follow: followOptions, pause, signal });
}

async function getContainerStatus(
  { cri }: ContainerLogsParts,
  id: string,
  signal: AbortSignal,
): Promise<ContainerStatus> {
  const containerId = id.slice(id.indexOf('://') + '://'.length);
  const { status } = await cri.containerStatus({ containerId, verbose: false }, { signal });
  if (status === undefined) throw new Error('container status is nil');
  return status;
}

const errorText = (error: unknown): string =>
  error instanceof NodeFailure ? runtimeMessageWithCode(error) : messageOf(error);
