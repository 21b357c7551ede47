/** Commands in containers, their processes, and the ports of pods (`pkg/kubelet/server/server.go`). */
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/failure.ts';
import type { Cri } from '../../cri/calls.ts';
import { PodSandboxState } from '../../cri/generated/runtime.ts';
import { POD_UID_LABEL } from '../../cri/labels.ts';
import { runningContainer } from '../../cri/runningContainer.ts';
import { streamingUrl } from '../../cri/streaming/streamingUrl.ts';
import { COMMAND_SUBPROTOCOL, offersSubprotocol, TUNNEL_SUBPROTOCOL } from '../../cri/streaming/webSocketCommand.ts';
import { containerNamed } from '../../kubernetes/api/containers.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { Exchange, Route } from '../exchange.ts';
import type { StreamSession, StreamSessions } from '../sessions.ts';
import { fullName, podNamed } from './found.ts';
import { errorLine, Refusal, refusedByRuntime, tell } from './refusal.ts';
import { relay } from './relay.ts';
import { portsAsked, streamOptions } from './streamOptions.ts';
import { containerTarget, podTarget, type StreamTarget } from './target.ts';
import { relayCommand, relayTunnel } from './webSockets.ts';

/** What of the node it takes to reach into its pods. */
export interface StreamingParts {
  readonly pods: () => readonly Pod[];
  readonly cri: Pick<Cri, 'exec' | 'attach' | 'portForward' | 'execSync' | 'listContainers' | 'listPodSandbox'>;
  readonly clock: Clock;
  readonly sessions: StreamSessions;
}

const UPGRADED = ['GET', 'POST'];

/** `/exec`, `/attach`, `/portForward` and `/run`. */
export function streamingRoutes(parts: StreamingParts): readonly Route[] {
  const stream = (kind: StreamSession['kind'], place: Place): Route => ({
    tree: `/${kind}`,
    methods: UPGRADED,
    answer: (exchange) => told(exchange, () => streamed(parts, exchange, kind, place)),
  });
  return [
    stream('exec', execPlace),
    stream('attach', attachPlace),
    stream('portForward', portsPlace),
    { tree: '/run', methods: ['POST'], answer: (exchange) => told(exchange, () => run(parts, exchange)) },
  ];
}

async function told({ response }: Exchange, answer: () => Promise<void>): Promise<void> {
  try {
    await answer();
  } catch (error) {
    if (!(error instanceof Refusal) || response.headersSent) throw error;
    tell(response, error);
  }
}

/** Where the runtime serves what is asked for. */
type Place = (
  parts: StreamingParts,
  exchange: Exchange,
) => Promise<{ readonly target: StreamTarget; readonly url: string }>;

async function streamed(
  { clock, sessions, ...parts }: StreamingParts,
  exchange: Exchange,
  kind: StreamSession['kind'],
  place: Place,
): Promise<void> {
  // Whoever goes meanwhile is told of by the signal.
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
    await relayTunnel(exchange, upgrade, placeOf(url), relayParts);
  else if (kind !== 'portForward' && offersSubprotocol(upgrade.request, COMMAND_SUBPROTOCOL))
    await relayCommand(exchange, upgrade, placeOf(url), { ...relayParts, streams: streamOptions(exchange.url) });
  else await relay(exchange, upgrade, placeOf(url), relayParts);
}

function placeOf(url: string): URL {
  try {
    return streamingUrl(url);
  } catch (error) {
    throw errorLine(500, messageOf(error));
  }
}

const execPlace: Place = async ({ pods, cri }, { url, signal }) => {
  const target = containerTarget(url);
  const streams = streamOptions(url);
  const pod = podNamed(pods(), target);
  const containerId = await runningId({ cri, signal }, pod, target.container);
  if (containerId === undefined) throw new Refusal(500, notFound(target));
  const cmd = url.searchParams.getAll('command');
  const asked = cri.exec({ containerId, cmd, ...streams }, { signal });
  return { target, url: (await asked.catch(refused)).url };
};

interface Asking {
  readonly cri: Pick<Cri, 'listContainers'>;
  readonly signal: AbortSignal;
}

/** Returns the runtime's ID of a running container. A runtime that cannot be asked refuses the request. */
const runningId = ({ cri, signal }: Asking, pod: Pod, name: string): Promise<string | undefined> =>
  runningContainer(cri, { podUid: pod.metadata.uid, name }, { signal }).catch(refused);

const notFound = ({ container }: StreamTarget): string => `container not found (${JSON.stringify(container)})`;

const refused = (error: unknown): never => {
  throw refusedByRuntime(error);
};

/** A process has a terminal since its start, or none. With one it has no stderr: whoever asks for that is refused by the runtime. */
const attachPlace: Place = async ({ pods, cri }, { url, signal }) => {
  const target = containerTarget(url);
  const { stdin, stdout, stderr } = streamOptions(url);
  const pod = podNamed(pods(), target);
  const { container, uid } = target;
  const containerId = await runningId({ cri, signal }, pod, container);
  const spec = containerNamed(pod.spec, container)?.container;
  const lacking = new Refusal(500, `container ${container} not found in pod ${fullName(pod)}`);
  if (containerId === undefined) throw lacking;
  if (uid !== undefined && uid !== pod.metadata.uid) throw new Refusal(500, `pod ${fullName(pod)} not found`);
  if (spec === undefined) throw lacking;
  const tty = spec.tty ?? false;
  const asked = cri.attach({ containerId, stdin, stdout, stderr, tty }, { signal });
  return { target, url: (await asked.catch(refused)).url };
};

const portsPlace: Place = async ({ pods, cri }, { url, request, signal }) => {
  const target = podTarget(url);
  const port = portsAsked(request, url);
  const pod = podNamed(pods(), target);
  const { uid } = pod.metadata;
  if (target.uid !== undefined && target.uid !== uid) throw new Refusal(404, 'pod not found');
  const filter = { id: '', state: undefined, labelSelector: { [POD_UID_LABEL]: uid } };
  const { items } = await cri.listPodSandbox({ filter }, { signal }).catch(refused);
  const newest = items.toSorted((one, other) => Number(other.createdAt - one.createdAt))[0];
  if (newest === undefined || items.every(({ state }) => state !== PodSandboxState.SANDBOX_READY))
    throw new Refusal(500, `pod not found (${JSON.stringify(fullName(pod))})`);
  const asked = cri.portForward({ podSandboxId: newest.id, port }, { signal });
  return { target, url: (await asked.catch(refused)).url };
};

/** A command that is done when it is answered: its two outputs, one behind the other (`RunInContainer`). */
async function run({ pods, cri }: StreamingParts, { url, signal, response }: Exchange): Promise<void> {
  const target = containerTarget(url);
  const containerId = await runningId({ cri, signal }, podNamed(pods(), target), target.container);
  if (containerId === undefined) throw new Refusal(500, notFound(target));
  const cmd = (url.searchParams.get('cmd') ?? '').split(' ');
  const asked = cri.execSync({ containerId, cmd, timeout: 0n }, { signal });
  const { exitCode, stdout, stderr } = await asked.catch((error: unknown) => {
    throw new Refusal(500, refusedByRuntime(error).message);
  });
  if (exitCode !== 0)
    throw new Refusal(500, `command '${cmd.join(' ')}' exited with ${exitCode}: ${Buffer.from(stderr)}`);
  const body = Buffer.concat([stdout, stderr]);
  response.writeHead(200, body.length === 0 ? {} : { 'Content-Type': 'application/json' }).end(body);
}
