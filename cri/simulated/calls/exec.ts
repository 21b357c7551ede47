import type { ExecSyncRequest, ExecSyncResponse } from '../../generated/runtime.ts';
import { waitForEvent } from '../clock.ts';
import { commandBehaviour } from '../commands/commandBehaviour.ts';
import { CallError } from '../faults/callError.ts';
import { requireById } from '../objects/byId.ts';
import { type ContainerRecord, containerStateName, isRunning, type RuntimeRecords } from '../objects/records.ts';
import type { RuntimeContext } from '../runtimeContext.ts';
import type { ExecResult } from '../streams/streams.ts';

/**
 * Returns the result of a command in a container. Undefined means that the result depends only on the command line, in
 * which case an unknown command succeeds.
 */
export type ExecScript = (exec: {
  readonly cmd: readonly string[];
  readonly container: string;
  readonly containerId: string;
  readonly podName: string;
  readonly podUid: string;
}) => ExecResult | undefined;

const EMPTY_COMMAND_ERROR =
  'failed to exec in container: failed to start exec: OCI runtime exec failed: exec failed: args must not be empty: unknown';

/** Runs a command in a running container. The timeout in the request is in seconds, and zero means no limit. */
export async function execSync(
  context: RuntimeContext,
  { containers }: RuntimeRecords,
  script: ExecScript | undefined,
  { containerId, cmd, timeout }: ExecSyncRequest,
  signal: AbortSignal,
): Promise<ExecSyncResponse> {
  const errorPrefix = `failed to exec in container: failed to find container "${containerId}" in store`;
  const record = requireById(containers, containerId, errorPrefix);
  const exitPromise = requireExitPromise(record);
  if (cmd.length === 0) throw new CallError('UNKNOWN', EMPTY_COMMAND_ERROR);
  await context.simulateWork('execSync', signal);
  const { afterMs = 0, exitCode = 0, stdout = '', stderr = '' } = execResult(record, cmd, script);
  const timeoutMs = timeout > 0n ? Number(timeout) * 1000 : Number.POSITIVE_INFINITY;
  if (await waitForEvent(exitPromise, context.clock, Math.min(afterMs, timeoutMs), signal))
    return execResponse(137, '', '');
  if (afterMs > timeoutMs) {
    const message = `failed to exec in container: timeout ${timeout}s exceeded: context deadline exceeded`;
    throw new CallError('DEADLINE_EXCEEDED', message);
  }
  return execResponse(exitCode, stdout, stderr);
}

function requireExitPromise(record: ContainerRecord): Promise<void> {
  if (record.lifecycle.state === 'running' && isRunning(record)) return record.lifecycle.exitPromise;
  const message = `failed to exec in container: container is in ${containerStateName(record)} state`;
  throw new CallError('UNKNOWN', message);
}

function execResult(record: ContainerRecord, cmd: readonly string[], script: ExecScript | undefined): ExecResult {
  return runScript(record, cmd, script) ?? runCommand(cmd);
}

/**
 * Returns the result of a streamed command. Returns undefined if the script has no result and the command has input, in
 * which case the command exits when its input ends.
 */
export function streamedExecResult(
  record: ContainerRecord,
  { cmd, stdin }: { readonly cmd: readonly string[]; readonly stdin: boolean },
  script: ExecScript | undefined,
): ExecResult | undefined {
  return runScript(record, cmd, script) ?? (stdin ? undefined : runCommand(cmd));
}

function runScript(record: ContainerRecord, cmd: readonly string[], script: ExecScript | undefined) {
  const { name: podName, uid: podUid } = record.sandbox.metadata;
  const container = record.config.metadata?.name ?? '';
  return script?.({ cmd, container, containerId: record.id, podName, podUid });
}

function runCommand(cmd: readonly string[]): ExecResult {
  const { exitAfterMs: afterMs = 0, exitCode = 0 } = commandBehaviour(cmd);
  return { afterMs, exitCode };
}

function execResponse(exitCode: number, stdout: string, stderr: string): ExecSyncResponse {
  return { exitCode, stdout: Buffer.from(stdout), stderr: Buffer.from(stderr) };
}
