import type { Behaviour, BehaviourSource, Run } from './behaviour.ts';
import { CallError } from './callError.ts';
import { behaviourOf } from './command.ts';
import { tellOfContainer } from './effects.ts';
import { startProcess } from './process.ts';
import type { ContainerRecord } from './records.ts';
import type { World } from './world.ts';

/** What containers do once they are started. */
export interface StartRules {
  /** By an image's full name; what has none here does as its command says. */
  readonly behaviours: ReadonlyMap<string, BehaviourSource>;
  /** Milliseconds by which an exit's event precedes the status that shows it. */
  readonly eventLeadMs: () => number;
}

/** Starts a created container's process. Fails in the OCI runtime's words when it cannot be started. */
export function run(world: World, record: ContainerRecord, rules: StartRules): void {
  const behaviour = behaviourFor(record, rules);
  if (behaviour.startError !== undefined) throw startError(behaviour.startError);
  const startedAt = world.clock.now();
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const process = startProcess(world.clock, behaviour, (exit) => {
    const finishedAt = world.clock.now();
    const show = () => {
      if (record.life.state === 'running') record.life = { state: 'exited', startedAt, finishedAt, ...exit };
      resolve();
    };
    showExit(world, record, rules.eventLeadMs(), show);
  });
  record.life = { state: 'running', startedAt, pid: world.newPid(), process, ended };
  tellOfContainer(world, 'started', record);
}

/** Ends a container whose start has failed, as far as it has come. */
export function endAsNotStarted(world: World, record: ContainerRecord, message: string): void {
  const { life } = record;
  const finishedAt = world.clock.now();
  record.life = { state: 'exited', finishedAt, exitCode: 128, reason: 'StartError', message };
  if (life.state === 'running') life.process.signal('SIGKILL');
  // Of a process that never ran containerd sends no event.
  else world.onEffect?.({ kind: 'ended', sandbox: record.sandbox, container: record });
}

function showExit(world: World, record: ContainerRecord, leadMs: number, show: () => void): void {
  if (leadMs > 0) world.clock.setTimeout(show, leadMs);
  else show();
  tellOfContainer(world, 'ended', record);
}

function behaviourFor(
  { config, sandbox, image: { name: image } }: ContainerRecord,
  { behaviours }: StartRules,
): Behaviour {
  const { command, args, metadata } = config;
  const source = behaviours.get(image);
  const run: Run = {
    image,
    podName: sandbox.metadata.name,
    podUid: sandbox.metadata.uid,
    container: metadata?.name ?? '',
    attempt: metadata?.attempt ?? 0,
    command,
    args,
  };
  const scripted = typeof source === 'function' ? source(run) : source;
  const argv = [...command, ...args];
  return scripted ?? (argv.length > 0 ? behaviourOf(argv) : {});
}

function startError(reason: string): CallError {
  const message =
    'failed to create containerd task: failed to create shim task: OCI runtime create failed: ' +
    `runc create failed: unable to start container process: ${reason}: unknown`;
  return new CallError('UNKNOWN', message);
}
