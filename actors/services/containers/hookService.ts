/** Implements the port of lifecycle hooks (exec, httpGet and sleep), each within the remaining grace period (C10). */

import { messageOf, NodeFailure, toFailure } from '../../../base/failure.ts';
import { quotedText } from '../../../base/text/quotedText.ts';
import { truncateToBytes } from '../../../base/text/utf8.ts';
import { type Clock, secondsLeft } from '../../../base/time/clock.ts';
import type { Cri } from '../../../cri/client/calls.ts';
import { runtimeMessageWithCode } from '../../../cri/client/failure.ts';
import { observedSandboxStatus } from '../../../cri/client/observe.ts';
import type { ExecSyncResponse } from '../../../cri/generated/runtime.ts';
import type { NodeDescription } from '../../../cri/nodeDescription.ts';
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { EventMessage } from '../../../kubernetes/events/recordedEvent.ts';
import { waitOnce } from '../../alarm.ts';
import type { PortService } from '../../boundary.ts';
import { decodeUtf8, type GoUrl } from '../http/goUrl.ts';
import { BodyFailure } from '../http/httpExchange.ts';
import { type HttpGetAction, type HttpTarget, httpGet, httpTarget, isPlainHttpResponse } from '../http/httpGet.ts';
import type { Network } from '../http/network.ts';
import { withTimeout } from '../withTimeout.ts';
import { findContainer } from './containers.ts';

type HookHandler = NonNullable<NonNullable<Container['lifecycle']>['preStop']>;

interface HookRun {
  readonly hook: 'postStart' | 'preStop';
  readonly handler: HookHandler;
  readonly container: Container;
  readonly id: string;
  /** IP address of the pod. */
  readonly address: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** A postStart hook runs without a deadline. */
const NO_DEADLINE = Number.POSITIVE_INFINITY;
/**
 * Time beyond the grace period after which an exec call is abandoned. Stopping the container terminates the command, so
 * this only guards against an unresponsive runtime.
 */
const EXEC_TIMEOUT_MARGIN_MS = 120_000;

export interface HookDependencies {
  readonly cri: Cri;
  readonly clock: Clock;
  readonly network: Network;
  /** Returns the node's addresses, which are used to reach pods on the host's network. */
  readonly node: () => Pick<NodeDescription, 'hostIps'>;
}

export function hookService(dependencies: HookDependencies): PortService<'runHook'> {
  const { cri, clock, node } = dependencies;
  return async ({ pod, container: name, id, hook, podIp, graceSeconds, deadline: requestedDeadline }, { signal }) => {
    const deadline = requestedDeadline ?? clock.now() + graceSeconds * 1_000;
    const startedAt = clock.monotonic();
    const remainingGrace = () => ({ deadline, graceSeconds: secondsLeft(graceSeconds, startedAt, clock) });
    const container = findContainer(pod, name);
    const handler = container.lifecycle?.[hook];
    if (handler === undefined) return { ...remainingGrace(), failure: null };
    const isPodIpMissing = podIp === undefined && handler.httpGet !== undefined && !pod.spec.hostNetwork;
    // A postStart hook does not use up the grace period.
    const timeoutMs = hook === 'postStart' ? NO_DEADLINE : Math.max(1, deadline - clock.now());
    try {
      const queriedAddress = isPodIpMissing
        ? await queryAddress(cri, id, { hostIps: node().hostIps, signal })
        : undefined;
      const warnings = await runHandler(dependencies, {
        hook,
        handler,
        container,
        id,
        address: podIp ?? queriedAddress ?? node().hostIps[0] ?? '127.0.0.1',
        timeoutMs,
        signal,
      });
      return { ...remainingGrace(), failure: null, ...(warnings.length > 0 ? { warnings } : {}) };
    } catch (cause) {
      const reason = hook === 'preStop' ? 'FailedPreStopHook' : 'PostStartHookError';
      const failure = new NodeFailure(reason, hookFailureMessage(pod, name, handler, cause), { cause });
      return { ...remainingGrace(), failure: toFailure(failure, clock.now()) };
    }
  };
}

/**
 * Reads the address of a pod from the runtime if the agent does not know its sandbox. Returns undefined for a pod on
 * the host's network.
 */
async function queryAddress(
  cri: Cri,
  id: string,
  { hostIps, signal }: { hostIps: readonly string[]; signal: AbortSignal },
): Promise<string | undefined> {
  const sandboxFilter = { id, state: undefined, podSandboxId: '', labelSelector: {} };
  const { containers } = await cri.listContainers({ filter: sandboxFilter }, { signal });
  const podSandboxId = containers[0]?.podSandboxId ?? '';
  const { status } = await cri.podSandboxStatus({ podSandboxId, verbose: false }, { signal });
  return status && observedSandboxStatus(status, hostIps)?.ips?.[0];
}

/** Returns the kubelet's message for a failed hook. */
function hookFailureMessage(
  pod: Pod,
  container: string,
  { exec, httpGet: get, sleep }: HookHandler,
  cause: unknown,
): string {
  const { name, namespace, uid } = pod.metadata;
  const errorMessage = `for Container "${container}" in Pod "${name}_${namespace}(${uid})" failed - error: ${describeCause(cause)}`;
  if (exec) {
    const output = cause instanceof CommandFailure ? cause.output : '';
    return `Exec lifecycle hook ([${(exec.command ?? []).join(' ')}]) ${errorMessage}, message: ${quotedText(output)}`;
  }
  if (get) return `HTTP lifecycle hook (${get.path ?? ''}) ${errorMessage}`;
  if (sleep) return `Sleep lifecycle hook (${sleep.seconds}) ${errorMessage}`;
  return `Cannot run handler: ${describeCause(cause)}`;
}

function describeCause(cause: unknown): string {
  if (cause instanceof NodeFailure) return runtimeMessageWithCode(cause);
  return messageOf(cause);
}

/** The failure of a command that exited with a non-zero code. Contains the command's output. */
class CommandFailure extends Error {
  readonly output: string;

  constructor(message: string, output: string) {
    super(message);
    this.output = output;
  }
}

async function runHandler(dependencies: HookDependencies, run: HookRun): Promise<EventMessage[]> {
  const { cri, clock } = dependencies;
  const { handler, timeoutMs, signal } = run;
  if (handler.exec) {
    await executeCommand(cri, clock, run, handler.exec.command ?? []);
    return [];
  }
  if (handler.httpGet) return sendHookRequest(dependencies, run, handler.httpGet);
  // The API still has `tcpSocket`, which was never implemented for hooks, so a hook with it fails (`Run` in
  // `pkg/kubelet/lifecycle/handlers.go`).
  if (handler.sleep === undefined) throw new Error(`invalid handler: ${Object.keys(handler).join()}`);
  await waitOnce(clock.now() + Math.min(timeoutMs, handler.sleep.seconds * 1_000), clock, signal);
  return [];
}

const MAX_OUTPUT_BYTES = 1_024;

/** Zero means no limit in the CRI. A preStop command is terminated when the container is stopped instead. */
const NO_TIMEOUT = 0n;

/**
 * Runs the command of a hook. A preStop command is not interrupted at the end of the grace period (C10), and continues
 * until stopping the container terminates it. Therefore its call does not use the caller's signal and has its own
 * limit.
 */
async function executeCommand(cri: Cri, clock: Clock, run: HookRun, cmd: readonly string[]): Promise<void> {
  const { id, hook, timeoutMs, signal } = run;
  const request = { containerId: id, cmd: [...cmd], timeout: NO_TIMEOUT };
  if (hook === 'postStart') return requireSuccess(cmd, await cri.execSync(request, { signal }));
  const pendingExec = cri.execSync(request, {
    signal: new AbortController().signal,
    timeoutMs: timeoutMs + EXEC_TIMEOUT_MARGIN_MS,
  });
  const waitAbort = new AbortController();
  const stopWaiting = () => waitAbort.abort();
  signal.addEventListener('abort', stopWaiting, { once: true });
  pendingExec.then(stopWaiting, stopWaiting);
  await waitOnce(clock.now() + timeoutMs, clock, waitAbort.signal);
  signal.removeEventListener('abort', stopWaiting);
  if (waitAbort.signal.aborted && !signal.aborted) requireSuccess(cmd, await pendingExec);
}

function requireSuccess(cmd: readonly string[], { exitCode, stdout, stderr }: ExecSyncResponse): void {
  if (exitCode === 0) return;
  const decodeOutput = (bytes: Uint8Array) => truncateToBytes(Buffer.from(bytes).toString('utf8'), MAX_OUTPUT_BYTES);
  const message = `command '${cmd.join(' ')}' exited with ${exitCode}: ${decodeOutput(stderr)}`;
  throw new CommandFailure(message, decodeOutput(Buffer.concat([stdout, stderr])));
}

/**
 * Sends the request of a hook. Any response is a success, regardless of its status and even if its body is truncated.
 */
async function sendHookRequest(
  { clock, network }: HookDependencies,
  run: HookRun,
  action: HttpGetAction,
): Promise<EventMessage[]> {
  const { container, address, timeoutMs, signal } = run;
  const createTarget = (httpGetAction: HttpGetAction) =>
    httpTarget(httpGetAction, container, { address, purpose: 'lifecycle' });
  const act = async (limited: AbortSignal) => {
    const target = createTarget(action);
    try {
      await requireResponse(network, target, limited);
      return [];
    } catch (error) {
      if (!isPlainHttpResponse(error)) throw error;
      // Retry over plain HTTP, because a plain HTTP response to an HTTPS request is also a success. The retry must not
      // send the credentials.
      const httpHeaders = action.httpHeaders?.filter(({ name }) => name.toLowerCase() !== 'authorization') ?? [];
      const plainTarget = createTarget({ ...action, httpHeaders, scheme: 'HTTP' });
      // If the retry fails too, report the original error.
      await requireResponse(network, plainTarget, limited).catch(() => Promise.reject(error));
      return [fallbackEvent(target.url)];
    }
  };
  return withTimeout(act, { clock, timeoutMs, signal });
}

async function requireResponse(network: Network, target: HttpTarget, signal: AbortSignal): Promise<void> {
  try {
    await httpGet(target, { network, signal });
  } catch (error) {
    if (!(error instanceof BodyFailure)) throw error;
  }
}

const fallbackEvent = ({ fields: { host } }: GoUrl): EventMessage => ({
  eventType: 'Warning',
  reason: 'LifecycleHTTPFallback',
  message: `request to HTTPS lifecycle hook ${decodeUtf8(host)} got HTTP response, retry with HTTP succeeded`,
});
