/** Fills the port of lifecycle hooks: exec, httpGet and sleep, each within what is left of the grace (C10). */
import { request } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { Cri } from '../../cri/calls.ts';
import { NodeFailure, toFailure } from '../../pod/failure.ts';
import type { Container } from '../../pod/schema/container.ts';
import type { Service } from '../boundary.ts';
import type { Clock } from '../clock.ts';
import { createAlarm } from '../feeds/alarm.ts';
import { containerNamed } from './containers.ts';

type Handler = NonNullable<NonNullable<Container['lifecycle']>['preStop']>;
type HttpGet = NonNullable<Handler['httpGet']>;

interface HookRun {
  readonly handler: Handler;
  readonly container: Container;
  readonly id: string;
  readonly podIp: string | undefined;
  /** Milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** A postStart hook has no deadline of its own; this is only against a runtime that never answers. */
const LONGEST_MS = 600_000;

export function hookService(cri: Cri, clock: Clock): Service<'runHook'> {
  return async ({ pod, container: name, id, hook, podIp, graceSeconds, deadline: given }, { signal }) => {
    const deadline = given ?? clock.now() + graceSeconds * 1_000;
    const container = containerNamed(pod, name);
    const handler = container.lifecycle?.[hook];
    if (handler === undefined) return { deadline, failure: null };
    // A postStart hook does not use up a grace.
    const timeoutMs = hook === 'postStart' ? LONGEST_MS : Math.max(1, deadline - clock.now());
    try {
      await runHandler(cri, clock, { handler, container, id, podIp, timeoutMs, signal });
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

function get({ container, podIp, timeoutMs, signal }: HookRun, action: HttpGet): Promise<void> {
  const secure = action.scheme === 'HTTPS';
  const headers = Object.fromEntries((action.httpHeaders ?? []).map(({ name, value }) => [name, value]));
  const options = {
    host: action.host || podIp,
    port: portOf(container, action.port, secure),
    path: action.path || '/',
    headers,
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    // Kubernetes does not check the certificate of a hook's target.
    ...(secure ? { rejectUnauthorized: false } : {}),
  };
  return new Promise((resolve, reject) => {
    const call = (secure ? secureRequest : request)(options, (response) => {
      response.resume();
      const status = response.statusCode ?? 0;
      if (status < 400) resolve();
      else reject(new Error(`HTTP status ${status}`));
    });
    call.on('error', reject);
    call.end();
  });
}

function portOf(container: Container, port: number | string, secure: boolean): number {
  if (typeof port === 'number') return port;
  const named = container.ports?.find(({ name }) => name === port)?.containerPort ?? Number(port);
  return Number.isInteger(named) ? named : secure ? 443 : 80;
}
