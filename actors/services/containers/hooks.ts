/** Fills the port of lifecycle hooks: exec, httpGet and sleep, each within what is left of the grace (C10). */

import { type Clock, secondsLeft } from '../../../base/clock.ts';
import { messageOf, NodeFailure, toFailure } from '../../../base/failure.ts';
import { quoted } from '../../../base/quoted.ts';
import { truncateToBytes } from '../../../base/utf8.ts';
import type { Cri } from '../../../cri/client/calls.ts';
import { runtimeMessageWithCode } from '../../../cri/client/failure.ts';
import { observedSandboxStatus } from '../../../cri/client/observe.ts';
import type { ExecSyncResponse } from '../../../cri/generated/runtime.ts';
import type { NodeDescription } from '../../../cri/nodeDescription.ts';
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { EventMessage } from '../../../kubernetes/events/recordedEvent.ts';
import { waitOnce } from '../../alarm.ts';
import type { Service } from '../../boundary.ts';
import { type GoUrl, textOfBytes } from '../http/goUrl.ts';
import { BodyFailure } from '../http/httpExchange.ts';
import { type HttpGetAction, type HttpTarget, httpGet, httpTarget, isAnsweredInPlain } from '../http/httpGet.ts';
import type { Network } from '../http/network.ts';
import { withinLimit } from '../timeLimit.ts';
import { containerNamed } from './containers.ts';

type Handler = NonNullable<NonNullable<Container['lifecycle']>['preStop']>;

interface HookRun {
  readonly hook: 'postStart' | 'preStop';
  readonly handler: Handler;
  readonly container: Container;
  readonly id: string;
  /** Where the pod is reached. */
  readonly address: string;
  /** Milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** A postStart hook has no deadline: it takes as long as it says. */
const NO_DEADLINE = Number.POSITIVE_INFINITY;
/** How much longer than the grace a command may take that a stop then ends; this too is only against a silent runtime. */
const STOPPED_MS = 120_000;

export interface HookParts {
  readonly cri: Cri;
  readonly clock: Clock;
  readonly network: Network;
  /** A pod without addresses of its own is reached at those of the node. */
  readonly node: () => Pick<NodeDescription, 'hostIps'>;
}

export function hookService(parts: HookParts): Service<'runHook'> {
  const { cri, clock, node } = parts;
  return async ({ pod, container: name, id, hook, podIp, graceSeconds, deadline: given }, { signal }) => {
    const deadline = given ?? clock.now() + graceSeconds * 1_000;
    const beganAt = clock.monotonic();
    const left = () => ({ deadline, graceSeconds: secondsLeft(graceSeconds, beganAt, clock) });
    const container = containerNamed(pod, name);
    const handler = container.lifecycle?.[hook];
    if (handler === undefined) return { ...left(), failure: null };
    const isUnknown = podIp === undefined && handler.httpGet !== undefined && !pod.spec.hostNetwork;
    // A postStart hook does not use up a grace.
    const timeoutMs = hook === 'postStart' ? NO_DEADLINE : Math.max(1, deadline - clock.now());
    try {
      const known = isUnknown ? await addressOf(cri, id, { hostIps: node().hostIps, signal }) : undefined;
      const warnings = await runHandler(parts, {
        hook,
        handler,
        container,
        id,
        address: podIp ?? known ?? node().hostIps[0] ?? '127.0.0.1',
        timeoutMs,
        signal,
      });
      return { ...left(), failure: null, ...(warnings.length > 0 ? { warnings } : {}) };
    } catch (cause) {
      const reason = hook === 'preStop' ? 'FailedPreStopHook' : 'PostStartHookError';
      const failure = new NodeFailure(reason, failureText(pod, name, handler, cause), { cause });
      return { ...left(), failure: toFailure(failure, clock.now()) };
    }
  };
}

/**
 * The address of a pod whose sandbox the agent does not know, from the runtime's status of it. Undefined for a pod on the
 * host's network.
 */
async function addressOf(
  cri: Cri,
  id: string,
  { hostIps, signal }: { hostIps: readonly string[]; signal: AbortSignal },
): Promise<string | undefined> {
  const filter = { id, state: undefined, podSandboxId: '', labelSelector: {} };
  const { containers } = await cri.listContainers({ filter }, { signal });
  const podSandboxId = containers[0]?.podSandboxId ?? '';
  const { status } = await cri.podSandboxStatus({ podSandboxId, verbose: false }, { signal });
  return status && observedSandboxStatus(status, hostIps)?.ips?.[0];
}

/** In the words of a kubelet: what hook it was, and why it failed. */
function failureText(pod: Pod, container: string, { exec, httpGet: get, sleep }: Handler, cause: unknown): string {
  const { name, namespace, uid } = pod.metadata;
  const where = `for Container "${container}" in Pod "${name}_${namespace}(${uid})" failed - error: ${wordsOf(cause)}`;
  if (exec) {
    const output = cause instanceof CommandFailure ? cause.output : '';
    return `Exec lifecycle hook ([${(exec.command ?? []).join(' ')}]) ${where}, message: ${quoted(output)}`;
  }
  if (get) return `HTTP lifecycle hook (${get.path ?? ''}) ${where}`;
  if (sleep) return `Sleep lifecycle hook (${sleep.seconds}) ${where}`;
  return `Cannot run handler: ${wordsOf(cause)}`;
}

function wordsOf(cause: unknown): string {
  if (cause instanceof NodeFailure) return runtimeMessageWithCode(cause);
  return messageOf(cause);
}

/** A command that ended with another code than 0, with what it wrote. */
class CommandFailure extends Error {
  readonly output: string;

  constructor(message: string, output: string) {
    super(message);
    this.output = output;
  }
}

async function runHandler(parts: HookParts, run: HookRun): Promise<EventMessage[]> {
  const { cri, clock } = parts;
  const { handler, timeoutMs, signal } = run;
  if (handler.exec) {
    await execute(cri, clock, run, handler.exec.command ?? []);
    return [];
  }
  if (handler.httpGet) return get(parts, run, handler.httpGet);
  // `tcpSocket` is in the API but was never implemented for hooks, and fails (`Run` in `pkg/kubelet/lifecycle/handlers.go`).
  if (handler.sleep === undefined) throw new Error(`invalid handler: ${Object.keys(handler).join()}`);
  await waitOnce(clock.now() + Math.min(timeoutMs, handler.sleep.seconds * 1_000), clock, signal);
  return [];
}

const LONGEST_OUTPUT = 1_024;

/** For the runtime, none is no limit: before a stop it is the end of the container that ends the command. */
const UNLIMITED = 0n;

/**
 * A command before a stop is not cut off when the grace ends (C10), only waited for no longer: it lives through what the
 * stop still gets. So its call is not aborted with the wait for it, and has a limit of its own.
 */
async function execute(cri: Cri, clock: Clock, run: HookRun, cmd: readonly string[]): Promise<void> {
  const { id, hook, timeoutMs, signal } = run;
  const request = { containerId: id, cmd: [...cmd], timeout: UNLIMITED };
  if (hook === 'postStart') return concluded(cmd, await cri.execSync(request, { signal }));
  const command = cri.execSync(request, { signal: new AbortController().signal, timeoutMs: timeoutMs + STOPPED_MS });
  const ended = new AbortController();
  const tell = () => ended.abort();
  signal.addEventListener('abort', tell, { once: true });
  command.then(tell, tell);
  await waitOnce(clock.now() + timeoutMs, clock, ended.signal);
  signal.removeEventListener('abort', tell);
  if (ended.signal.aborted && !signal.aborted) concluded(cmd, await command);
}

function concluded(cmd: readonly string[], { exitCode, stdout, stderr }: ExecSyncResponse): void {
  if (exitCode === 0) return;
  const text = (bytes: Uint8Array) => truncateToBytes(Buffer.from(bytes).toString('utf8'), LONGEST_OUTPUT);
  const message = `command '${cmd.join(' ')}' exited with ${exitCode}: ${text(stderr)}`;
  throw new CommandFailure(message, text(Buffer.concat([stdout, stderr])));
}

/** That it was answered is enough: neither the status of an answer nor its body, which may break off, says anything. */
async function get({ clock, network }: HookParts, run: HookRun, action: HttpGetAction): Promise<EventMessage[]> {
  const { container, address, timeoutMs, signal } = run;
  const targetOf = (asked: HttpGetAction) => httpTarget(asked, container, { address, purpose: 'lifecycle' });
  const act = async (limited: AbortSignal) => {
    const target = targetOf(action);
    try {
      await answered(network, target, limited);
      return [];
    } catch (error) {
      if (!isAnsweredInPlain(error)) throw error;
      // Whoever asks for TLS of a server that has none is answered all the same, and sends it no secret.
      const httpHeaders = action.httpHeaders?.filter(({ name }) => name.toLowerCase() !== 'authorization') ?? [];
      const plain = targetOf({ ...action, httpHeaders, scheme: 'HTTP' });
      // When that fails too, what is told of is what was wrong first.
      await answered(network, plain, limited).catch(() => Promise.reject(error));
      return [fallback(target.url)];
    }
  };
  return withinLimit(act, { clock, timeoutMs, signal });
}

async function answered(network: Network, target: HttpTarget, signal: AbortSignal): Promise<void> {
  try {
    await httpGet(target, { network, signal });
  } catch (error) {
    if (!(error instanceof BodyFailure)) throw error;
  }
}

const fallback = ({ fields: { host } }: GoUrl): EventMessage => ({
  eventType: 'Warning',
  reason: 'LifecycleHTTPFallback',
  message: `request to HTTPS lifecycle hook ${textOfBytes(host)} got HTTP response, retry with HTTP succeeded`,
});
