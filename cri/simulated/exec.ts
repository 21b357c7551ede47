import type { ExecSyncRequest, ExecSyncResponse } from '../generated/runtime.ts';
import { requireById } from './byId.ts';
import { CallError } from './callError.ts';
import { within } from './clock.ts';
import { behaviourOf } from './command.ts';
import { type ContainerRecord, containerStateName, isRunning, type Records } from './records.ts';
import type { ExecAnswer } from './streams.ts';
import type { World } from './world.ts';

/** Answers a command; undefined leaves it to what the command says, and one that says nothing known succeeds. */
export type ExecScript = (exec: {
  readonly cmd: readonly string[];
  readonly container: string;
  readonly containerId: string;
  readonly podName: string;
  readonly podUid: string;
}) => ExecAnswer | undefined;

const NO_COMMAND =
  'failed to exec in container: failed to start exec: OCI runtime exec failed: exec failed: args must not be empty: unknown';

/** Runs a command in a running container, for at most the request's timeout (seconds; zero is no limit). */
export async function execSync(
  world: World,
  { containers }: Records,
  script: ExecScript | undefined,
  { containerId, cmd, timeout }: ExecSyncRequest,
  signal: AbortSignal,
): Promise<ExecSyncResponse> {
  const sentence = `failed to exec in container: failed to find container "${containerId}" in store`;
  const record = requireById(containers, containerId, sentence);
  const ended = whileRunning(record);
  if (cmd.length === 0) throw new CallError('UNKNOWN', NO_COMMAND);
  await world.work('execSync', signal);
  const { afterMs = 0, exitCode = 0, stdout = '', stderr = '' } = answerTo(record, cmd, script);
  const limitMs = timeout > 0n ? Number(timeout) * 1000 : Number.POSITIVE_INFINITY;
  if (await within(ended, world.clock, Math.min(afterMs, limitMs), signal)) return answer(137, '', '');
  if (afterMs > limitMs) {
    const message = `failed to exec in container: timeout ${timeout}s exceeded: context deadline exceeded`;
    throw new CallError('DEADLINE_EXCEEDED', message);
  }
  return answer(exitCode, stdout, stderr);
}

function whileRunning(record: ContainerRecord): Promise<void> {
  if (record.life.state === 'running' && isRunning(record)) return record.life.ended;
  const message = `failed to exec in container: container is in ${containerStateName(record)} state`;
  throw new CallError('UNKNOWN', message);
}

function answerTo(record: ContainerRecord, cmd: readonly string[], script: ExecScript | undefined): ExecAnswer {
  return scripted(record, cmd, script) ?? ofCommand(cmd);
}

/** What a command answers whose streams somebody has: where nobody says what, and it has an input, it follows that. */
export function streamedAnswer(
  record: ContainerRecord,
  { cmd, stdin }: { readonly cmd: readonly string[]; readonly stdin: boolean },
  script: ExecScript | undefined,
): ExecAnswer | undefined {
  return scripted(record, cmd, script) ?? (stdin ? undefined : ofCommand(cmd));
}

function scripted(record: ContainerRecord, cmd: readonly string[], script: ExecScript | undefined) {
  const { name: podName, uid: podUid } = record.sandbox.metadata;
  const container = record.config.metadata?.name ?? '';
  return script?.({ cmd, container, containerId: record.id, podName, podUid });
}

function ofCommand(cmd: readonly string[]): ExecAnswer {
  const { exitAfterMs: afterMs = 0, exitCode = 0 } = behaviourOf(cmd);
  return { afterMs, exitCode };
}

function answer(exitCode: number, stdout: string, stderr: string): ExecSyncResponse {
  return { exitCode, stdout: Buffer.from(stdout), stderr: Buffer.from(stderr) };
}
