/** Fills the port of lifecycle hooks: exec, httpGet and sleep, each within what is left of the grace (C10). */
import type { Cri } from '../../cri/calls.ts';
import { NodeFailure, toFailure } from '../../pod/failure.ts';
import type { Container } from '../../pod/schema/container.ts';
import type { Service } from '../boundary.ts';
import type { Clock } from '../clock.ts';
import { createAlarm } from '../feeds/alarm.ts';
import { containerNamed } from './containers.ts';
import { type HttpGetAction, httpGet, httpTarget, isAnsweredInPlain } from './httpGet.ts';

type Handler = NonNullable<NonNullable<Container['lifecycle']>['preStop']>;

interface HookRun {
  readonly handler: Handler;
  readonly container: Container;
  readonly id: string;
  /** Where the pod is reached. */
  readonly address: string;
  /** Milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** A postStart hook has no deadline of its own; this is only against a runtime that never answers. */
const LONGEST_MS = 600_000;

export interface HookParts {
  readonly cri: Cri;
  readonly clock: Clock;
  /** What a pod without addresses of its own is reached at. */
  readonly hostIps: readonly string[];
}

export function hookService({ cri, clock, hostIps }: HookParts): Service<'runHook'> {
  return async ({ pod, container: name, id, hook, podIp, graceSeconds, deadline: given }, { signal }) => {
    const deadline = given ?? clock.now() + graceSeconds * 1_000;
    const container = containerNamed(pod, name);
    const handler = container.lifecycle?.[hook];
    if (handler === undefined) return { deadline, failure: null };
    // A postStart hook does not use up a grace.
    const timeoutMs = hook === 'postStart' ? LONGEST_MS : Math.max(1, deadline - clock.now());
    try {
      await runHandler(cri, clock, {
        handler,
        container,
        id,
        address: podIp ?? hostIps[0] ?? '127.0.0.1',
        timeoutMs,
        signal,
      });
      return { deadline, failure: null };
    } catch (cause) {
      const reason = hook === 'preStop' ? 'FailedPreStopHook' : 'PostStartHookError';
      const message = cause instanceof Error ? cause.message : String(cause);
      const failure = new NodeFailure(reason, `${hook} hook of container ${name} failed: ${message}`, { cause });
      return { deadline, failure: toFailure(failure, clock.now()) };
    }
  };
}

async function runHandler(cri: Cri, clock: Clock, run: HookRun): Promise<void> {
  const { handler, timeoutMs, signal } = run;
  if (handler.exec) return execute(cri, run, handler.exec.command ?? []);
  if (handler.httpGet) return get(run, handler.httpGet);
  const seconds = handler.sleep?.seconds ?? 0;
  await createAlarm(clock, signal).wait(clock.now() + Math.min(timeoutMs, seconds * 1_000));
}

async function execute(cri: Cri, { id, timeoutMs, signal }: HookRun, cmd: readonly string[]): Promise<void> {
  const timeout = BigInt(Math.ceil(timeoutMs / 1_000));
  const answer = await cri.execSync(
    { containerId: id, cmd: [...cmd], timeout },
    { signal, timeoutMs: timeoutMs + 1_000 },
  );
  if (answer.exitCode === 0) return;
  const output = Buffer.from(answer.stderr.length > 0 ? answer.stderr : answer.stdout).toString('utf8', 0, 1_024);
  throw new Error(`command ${cmd.join(' ')} exited with ${answer.exitCode}: ${output.trim()}`);
}

/** That it was answered is enough: a hook's status says nothing. */
async function get({ container, address, timeoutMs, signal }: HookRun, action: HttpGetAction): Promise<void> {
  const options = { signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]), leavesHost: true };
  const send = (scheme: HttpGetAction['scheme']) =>
    httpGet(
      httpTarget({ ...action, ...(scheme ? { scheme } : {}) }, container, { address, purpose: 'lifecycle' }),
      options,
    );
  try {
    await send(action.scheme);
  } catch (error) {
    // Whoever asks for TLS of a server that has none is answered all the same.
    if (!isAnsweredInPlain(error)) throw error;
    await send('HTTP');
  }
}
