import type { Behaviour, BehaviourSource, ContainerRun } from '../commands/behaviour.ts';
import { commandBehaviour } from '../commands/commandBehaviour.ts';
import { CallError } from '../faults/callError.ts';
import type { RuntimeContext } from '../runtimeContext.ts';
import { notifyContainerChange } from './effects.ts';
import { startProcess } from './process.ts';
import type { ContainerRecord } from './records.ts';

/** Rules that determine the behaviour of started containers. */
export interface StartRules {
  /** Behaviours by full image name. For other images, the command determines the behaviour. */
  readonly behaviours: ReadonlyMap<string, BehaviourSource>;
  /** Milliseconds between a container's exit event and the change of its status. */
  readonly eventLeadMs: () => number;
}

/** Starts the process of a created container. Throws the OCI runtime's error if it cannot be started. */
export function runContainer(context: RuntimeContext, record: ContainerRecord, rules: StartRules): void {
  const behaviour = resolveBehaviour(record, rules);
  if (behaviour.startError !== undefined) throw startError(behaviour.startError);
  const startedAt = context.clock.now();
  const { promise: exited, resolve } = Promise.withResolvers<void>();
  const process = startProcess(context.clock, behaviour, (exit) => {
    const finishedAt = context.clock.now();
    const reportExit = () => {
      if (record.lifecycle.state === 'running') record.lifecycle = { state: 'exited', startedAt, finishedAt, ...exit };
      resolve();
    };
    reportAndPublishExit(context, record, rules.eventLeadMs(), reportExit);
  });
  record.lifecycle = { state: 'running', startedAt, pid: context.generatePid(), process, exitPromise: exited };
  notifyContainerChange(context, 'started', record);
}

/** Moves a container whose start has failed to the exited state. */
export function exitWithStartError(context: RuntimeContext, record: ContainerRecord, message: string): void {
  const { lifecycle } = record;
  const finishedAt = context.clock.now();
  record.lifecycle = { state: 'exited', finishedAt, exitCode: 128, reason: 'StartError', message };
  if (lifecycle.state === 'running') lifecycle.process.signal('SIGKILL');
  // Notify only the observer, because containerd sends no event if the process never ran.
  else context.onEffect?.({ kind: 'ended', sandbox: record.sandbox, container: record });
}

function reportAndPublishExit(
  context: RuntimeContext,
  record: ContainerRecord,
  leadMs: number,
  recordExit: () => void,
): void {
  if (leadMs > 0) context.clock.setTimeout(recordExit, leadMs);
  else recordExit();
  notifyContainerChange(context, 'ended', record);
}

function resolveBehaviour(
  { config, sandbox, image: { name: image } }: ContainerRecord,
  { behaviours }: StartRules,
): Behaviour {
  const { command, args, metadata } = config;
  const source = behaviours.get(image);
  const containerRun: ContainerRun = {
    image,
    podName: sandbox.metadata.name,
    podUid: sandbox.metadata.uid,
    container: metadata?.name ?? '',
    attempt: metadata?.attempt ?? 0,
    command,
    args,
  };
  const behaviour = typeof source === 'function' ? source(containerRun) : source;
  const argv = [...command, ...args];
  return behaviour ?? (argv.length > 0 ? commandBehaviour(argv) : {});
}

function startError(reason: string): CallError {
  const message =
    'failed to create containerd task: failed to create shim task: OCI runtime create failed: ' +
    `runc create failed: unable to start container process: ${reason}: unknown`;
  return new CallError('UNKNOWN', message);
}
