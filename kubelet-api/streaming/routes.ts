/** Defines the routes for exec, attach, port-forward and run (`pkg/kubelet/server/server.go`). */

import { messageOf } from '../../base/failure.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Cri } from '../../cri/client/calls.ts';
import { POD_UID_LABEL } from '../../cri/config/labels.ts';
import { PodSandboxState } from '../../cri/generated/runtime.ts';
import { findRunningContainer } from '../../cri/runningContainer.ts';
import { parseStreamingUrl } from '../../cri/streaming/streamingUrl.ts';
import { COMMAND_SUBPROTOCOL, offersSubprotocol, TUNNEL_SUBPROTOCOL } from '../../cri/streaming/webSocketCommand.ts';
import { findContainerByName } from '../../kubernetes/api/pods/containers.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { Exchange, Route } from '../exchange.ts';
import type { StreamSession, StreamSessions } from '../sessions.ts';
import { createErrorRefusal, Refusal, sendRefusal, toRefusal } from './refusal.ts';
import { relayStreams } from './relay.ts';
import { fullName, requirePod } from './requirePod.ts';
import { requestedPorts, streamOptions } from './streamOptions.ts';
import { parseContainerTarget, parsePodTarget, type StreamTarget } from './target.ts';
import { relayCommand, relayTunnel } from './webSockets.ts';

export interface StreamingOptions {
  readonly pods: () => readonly Pod[];
  readonly cri: Pick<Cri, 'exec' | 'attach' | 'portForward' | 'execSync' | 'listContainers' | 'listPodSandbox'>;
  readonly clock: Clock;
  readonly sessions: StreamSessions;
}

const UPGRADE_METHODS = ['GET', 'POST'];

/** Creates the routes `/exec`, `/attach`, `/portForward` and `/run`. */
export function streamingRoutes(options: StreamingOptions): readonly Route[] {
  const stream = (kind: StreamSession['kind'], requestUrl: RequestStreamUrl): Route => ({
    pathPrefix: `/${kind}`,
    methods: UPGRADE_METHODS,
    handle: (exchange) => handleWithRefusals(exchange, () => serveStream(options, exchange, kind, requestUrl)),
  });
  return [
    stream('exec', requestExecUrl),
    stream('attach', requestAttachUrl),
    stream('portForward', requestPortForwardUrl),
    {
      pathPrefix: '/run',
      methods: ['POST'],
      handle: (exchange) => handleWithRefusals(exchange, () => run(options, exchange)),
    },
  ];
}

async function handleWithRefusals({ response }: Exchange, handleRequest: () => Promise<void>): Promise<void> {
  try {
    await handleRequest();
  } catch (error) {
    if (!(error instanceof Refusal) || response.headersSent) throw error;
    sendRefusal(response, error);
  }
}

/** Requests the runtime's streaming URL. */
type RequestStreamUrl = (
  options: StreamingOptions,
  exchange: Exchange,
) => Promise<{ readonly target: StreamTarget; readonly url: string }>;

async function serveStream(
  { clock, sessions, ...parts }: StreamingOptions,
  exchange: Exchange,
  kind: StreamSession['kind'],
  requestUrl: RequestStreamUrl,
): Promise<void> {
  // Ignore the error event, because the signal already reports a disconnect.
  exchange.upgrade?.socket.on('error', () => {});
  const { target, url } = await requestUrl({ clock, sessions, ...parts }, exchange);
  if (exchange.upgrade === undefined) throw createErrorRefusal(500, 'Upgrade request required');
  const { caller } = exchange;
  const { namespace, pod, container } = target;
  const relayOptions = {
    clock,
    onJoined: () => sessions.start({ kind, namespace, pod, container, caller: caller.name, since: clock.now() }),
  };
  const { upgrade } = exchange;
  if (kind === 'portForward' && offersSubprotocol(upgrade.request, TUNNEL_SUBPROTOCOL))
    await relayTunnel(exchange, upgrade, requireStreamingUrl(url), relayOptions);
  else if (kind !== 'portForward' && offersSubprotocol(upgrade.request, COMMAND_SUBPROTOCOL))
    await relayCommand(exchange, upgrade, requireStreamingUrl(url), {
      ...relayOptions,
      streams: streamOptions(exchange.url),
    });
  else await relayStreams(exchange, upgrade, requireStreamingUrl(url), relayOptions);
}

function requireStreamingUrl(url: string): URL {
  try {
    return parseStreamingUrl(url);
  } catch (error) {
    throw createErrorRefusal(500, messageOf(error));
  }
}

const requestExecUrl: RequestStreamUrl = async ({ pods, cri }, { url, signal }) => {
  const target = parseContainerTarget(url);
  const streams = streamOptions(url);
  const pod = requirePod(pods(), target);
  const containerId = await findRunningContainerId({ cri, signal }, pod, target.container);
  if (containerId === undefined) throw new Refusal(500, describeMissingContainer(target));
  const cmd = url.searchParams.getAll('command');
  const response = cri.exec({ containerId, cmd, ...streams }, { signal });
  return { target, url: (await response.catch(throwRefusal)).url };
};

interface RuntimeRequest {
  readonly cri: Pick<Cri, 'listContainers'>;
  readonly signal: AbortSignal;
}

/** Returns the runtime's ID of a running container. Refuses the request if the runtime returns an error. */
const findRunningContainerId = ({ cri, signal }: RuntimeRequest, pod: Pod, name: string): Promise<string | undefined> =>
  findRunningContainer(cri, { podUid: pod.metadata.uid, name }, { signal }).catch(throwRefusal);

const describeMissingContainer = ({ container }: StreamTarget): string =>
  `container not found (${JSON.stringify(container)})`;

const throwRefusal = (error: unknown): never => {
  throw toRefusal(error);
};

/**
 * Requests the streaming URL for attaching to a container. The container's spec determines whether a terminal is used.
 * `stderr` is passed on unchanged, so the runtime refuses a request for the stderr of a container with a terminal.
 */
const requestAttachUrl: RequestStreamUrl = async ({ pods, cri }, { url, signal }) => {
  const target = parseContainerTarget(url);
  const { stdin, stdout, stderr } = streamOptions(url);
  const pod = requirePod(pods(), target);
  const { container, uid } = target;
  const containerId = await findRunningContainerId({ cri, signal }, pod, container);
  const spec = findContainerByName(pod.spec, container)?.container;
  const missingContainerRefusal = new Refusal(500, `container ${container} not found in pod ${fullName(pod)}`);
  if (containerId === undefined) throw missingContainerRefusal;
  if (uid !== undefined && uid !== pod.metadata.uid) throw new Refusal(500, `pod ${fullName(pod)} not found`);
  if (spec === undefined) throw missingContainerRefusal;
  const tty = spec.tty ?? false;
  const response = cri.attach({ containerId, stdin, stdout, stderr, tty }, { signal });
  return { target, url: (await response.catch(throwRefusal)).url };
};

const requestPortForwardUrl: RequestStreamUrl = async ({ pods, cri }, { url, request, signal }) => {
  const target = parsePodTarget(url);
  const port = requestedPorts(request, url);
  const pod = requirePod(pods(), target);
  const { uid } = pod.metadata;
  if (target.uid !== undefined && target.uid !== uid) throw new Refusal(404, 'pod not found');
  const sandboxFilter = { id: '', state: undefined, labelSelector: { [POD_UID_LABEL]: uid } };
  const { items } = await cri.listPodSandbox({ filter: sandboxFilter }, { signal }).catch(throwRefusal);
  const newestSandbox = items.toSorted((left, right) => Number(right.createdAt - left.createdAt))[0];
  if (newestSandbox === undefined || items.every(({ state }) => state !== PodSandboxState.SANDBOX_READY))
    throw new Refusal(500, `pod not found (${JSON.stringify(fullName(pod))})`);
  const response = cri.portForward({ podSandboxId: newestSandbox.id, port }, { signal });
  return { target, url: (await response.catch(throwRefusal)).url };
};

/** Runs a command to completion and responds with its stdout followed by its stderr (`RunInContainer`). */
async function run({ pods, cri }: StreamingOptions, { url, signal, response }: Exchange): Promise<void> {
  const target = parseContainerTarget(url);
  const containerId = await findRunningContainerId({ cri, signal }, requirePod(pods(), target), target.container);
  if (containerId === undefined) throw new Refusal(500, describeMissingContainer(target));
  const cmd = (url.searchParams.get('cmd') ?? '').split(' ');
  const execResult = cri.execSync({ containerId, cmd, timeout: 0n }, { signal });
  const { exitCode, stdout, stderr } = await execResult.catch((error: unknown) => {
    throw new Refusal(500, toRefusal(error).message);
  });
  if (exitCode !== 0)
    throw new Refusal(500, `command '${cmd.join(' ')}' exited with ${exitCode}: ${Buffer.from(stderr)}`);
  const body = Buffer.concat([stdout, stderr]);
  response.writeHead(200, body.length === 0 ? {} : { 'Content-Type': 'application/json' }).end(body);
}
