/** Defines the routes for exec, attach, port-forward and run (`pkg/kubelet/server/server.go`). */
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/failure.ts';
import type { Cri } from '../../cri/client/calls.ts';
import { POD_UID_LABEL } from '../../cri/config/labels.ts';
import { PodSandboxState } from '../../cri/generated/runtime.ts';
import { findRunningContainer } from '../../cri/runningContainer.ts';
import { parseStreamingUrl } from '../../cri/streaming/streamingUrl.ts';
import { COMMAND_SUBPROTOCOL, offersSubprotocol, TUNNEL_SUBPROTOCOL } from '../../cri/streaming/webSocketCommand.ts';
import { containerNamed } from '../../kubernetes/api/containers.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { Exchange, Route } from '../exchange.ts';
import type { StreamSession, StreamSessions } from '../sessions.ts';
import { fullName, podNamed } from './found.ts';
import { errorLine, Refusal, sendRefusal, toRefusal } from './refusal.ts';
import { relay } from './relay.ts';
import { requestedPorts, streamOptions } from './streamOptions.ts';
import { containerTarget, podTarget, type StreamTarget } from './target.ts';
import { relayCommand, relayTunnel } from './webSockets.ts';

/** The dependencies of the routes. */
export interface StreamingOptions {
  readonly pods: () => readonly Pod[];
  readonly cri: Pick<Cri, 'exec' | 'attach' | 'portForward' | 'execSync' | 'listContainers' | 'listPodSandbox'>;
  readonly clock: Clock;
  readonly sessions: StreamSessions;
}

const UPGRADE_METHODS = ['GET', 'POST'];

/** Creates the routes `/exec`, `/attach`, `/portForward` and `/run`. */
export function streamingRoutes(parts: StreamingOptions): readonly Route[] {
  const stream = (kind: StreamSession['kind'], place: UrlRequest): Route => ({
    tree: `/${kind}`,
    methods: UPGRADE_METHODS,
    answer: (exchange) => withRefusals(exchange, () => serveStream(parts, exchange, kind, place)),
  });
  return [
    stream('exec', requestExecUrl),
    stream('attach', requestAttachUrl),
    stream('portForward', requestPortForwardUrl),
    { tree: '/run', methods: ['POST'], answer: (exchange) => withRefusals(exchange, () => run(parts, exchange)) },
  ];
}

async function withRefusals({ response }: Exchange, answer: () => Promise<void>): Promise<void> {
  try {
    await answer();
  } catch (error) {
    if (!(error instanceof Refusal) || response.headersSent) throw error;
    sendRefusal(response, error);
  }
}

/** Requests the runtime's streaming URL. */
type UrlRequest = (
  parts: StreamingOptions,
  exchange: Exchange,
) => Promise<{ readonly target: StreamTarget; readonly url: string }>;

async function serveStream(
  { clock, sessions, ...parts }: StreamingOptions,
  exchange: Exchange,
  kind: StreamSession['kind'],
  place: UrlRequest,
): Promise<void> {
  // The signal reports a disconnect, so ignore the error event.
  exchange.upgrade?.socket.on('error', () => {});
  const { target, url } = await place({ clock, sessions, ...parts }, exchange);
  if (exchange.upgrade === undefined) throw errorLine(500, 'Upgrade request required');
  const { caller } = exchange;
  const { namespace, pod, container } = target;
  const relayParts = {
    clock,
    onJoined: () => sessions.begin({ kind, namespace, pod, container, caller: caller.name, since: clock.now() }),
  };
  const { upgrade } = exchange;
  if (kind === 'portForward' && offersSubprotocol(upgrade.request, TUNNEL_SUBPROTOCOL))
    await relayTunnel(exchange, upgrade, requireStreamingUrl(url), relayParts);
  else if (kind !== 'portForward' && offersSubprotocol(upgrade.request, COMMAND_SUBPROTOCOL))
    await relayCommand(exchange, upgrade, requireStreamingUrl(url), {
      ...relayParts,
      streams: streamOptions(exchange.url),
    });
  else await relay(exchange, upgrade, requireStreamingUrl(url), relayParts);
}

function requireStreamingUrl(url: string): URL {
  try {
    return parseStreamingUrl(url);
  } catch (error) {
    throw errorLine(500, messageOf(error));
  }
}

const requestExecUrl: UrlRequest = async ({ pods, cri }, { url, signal }) => {
  const target = containerTarget(url);
  const streams = streamOptions(url);
  const pod = podNamed(pods(), target);
  const containerId = await runningContainerId({ cri, signal }, pod, target.container);
  if (containerId === undefined) throw new Refusal(500, notFound(target));
  const cmd = url.searchParams.getAll('command');
  const response = cri.exec({ containerId, cmd, ...streams }, { signal });
  return { target, url: (await response.catch(throwRefusal)).url };
};

interface Asking {
  readonly cri: Pick<Cri, 'listContainers'>;
  readonly signal: AbortSignal;
}

/** Returns the runtime's ID of a running container. If the runtime returns an error, the request is refused. */
const runningContainerId = ({ cri, signal }: Asking, pod: Pod, name: string): Promise<string | undefined> =>
  findRunningContainer(cri, { podUid: pod.metadata.uid, name }, { signal }).catch(throwRefusal);

const notFound = ({ container }: StreamTarget): string => `container not found (${JSON.stringify(container)})`;

const throwRefusal = (error: unknown): never => {
  throw toRefusal(error);
};

/**
 * Requests the URL for an attach. The container's spec determines whether there is a terminal. The runtime refuses a
 * request for stderr of a container with a terminal.
 */
const requestAttachUrl: UrlRequest = async ({ pods, cri }, { url, signal }) => {
  const target = containerTarget(url);
  const { stdin, stdout, stderr } = streamOptions(url);
  const pod = podNamed(pods(), target);
  const { container, uid } = target;
  const containerId = await runningContainerId({ cri, signal }, pod, container);
  const spec = containerNamed(pod.spec, container)?.container;
  const containerMissing = new Refusal(500, `container ${container} not found in pod ${fullName(pod)}`);
  if (containerId === undefined) throw containerMissing;
  if (uid !== undefined && uid !== pod.metadata.uid) throw new Refusal(500, `pod ${fullName(pod)} not found`);
  if (spec === undefined) throw containerMissing;
  const tty = spec.tty ?? false;
  const response = cri.attach({ containerId, stdin, stdout, stderr, tty }, { signal });
  return { target, url: (await response.catch(throwRefusal)).url };
};

const requestPortForwardUrl: UrlRequest = async ({ pods, cri }, { url, request, signal }) => {
  const target = podTarget(url);
  const port = requestedPorts(request, url);
  const pod = podNamed(pods(), target);
  const { uid } = pod.metadata;
  if (target.uid !== undefined && target.uid !== uid) throw new Refusal(404, 'pod not found');
  const filter = { id: '', state: undefined, labelSelector: { [POD_UID_LABEL]: uid } };
  const { items } = await cri.listPodSandbox({ filter }, { signal }).catch(throwRefusal);
  const newest = items.toSorted((one, other) => Number(other.createdAt - one.createdAt))[0];
  if (newest === undefined || items.every(({ state }) => state !== PodSandboxState.SANDBOX_READY))
    throw new Refusal(500, `pod not found (${JSON.stringify(fullName(pod))})`);
  const response = cri.portForward({ podSandboxId: newest.id, port }, { signal });
  return { target, url: (await response.catch(throwRefusal)).url };
};

/** Runs a command to completion and responds with its stdout followed by its stderr (`RunInContainer`). */
async function run({ pods, cri }: StreamingOptions, { url, signal, response }: Exchange): Promise<void> {
  const target = containerTarget(url);
  const containerId = await runningContainerId({ cri, signal }, podNamed(pods(), target), target.container);
  if (containerId === undefined) throw new Refusal(500, notFound(target));
  const cmd = (url.searchParams.get('cmd') ?? '').split(' ');
  const asked = cri.execSync({ containerId, cmd, timeout: 0n }, { signal });
  const { exitCode, stdout, stderr } = await asked.catch((error: unknown) => {
    throw new Refusal(500, toRefusal(error).message);
  });
  if (exitCode !== 0)
    throw new Refusal(500, `command '${cmd.join(' ')}' exited with ${exitCode}: ${Buffer.from(stderr)}`);
  const body = Buffer.concat([stdout, stderr]);
  response.writeHead(200, body.length === 0 ? {} : { 'Content-Type': 'application/json' }).end(body);
}
