/** Recovery of containers by a CRI runtime that was killed, including some that it cannot recover. */
import { ContainerConfig, ContainerState, PodSandboxConfig } from '../../cri/generated/runtime.ts';
import { outcomeOf, type RawCalls } from './rawCalls.ts';

interface RestartStory {
  readonly image: string;
  /** Directory of the container logs, in which no log can be opened once the runtime is back. */
  readonly logDirectory: string;
  /** Sends a call. Read this property again after each restart, because the connection may have changed. */
  readonly call: RawCalls['call'];
  /** Kills the runtime, makes the container logs impossible to open, and starts the runtime again. */
  readonly restart: () => Promise<void>;
  readonly wait: (ms: number) => Promise<void>;
}

const SLEEPER = ['sh', '-c', "trap 'exit 3' TERM; sleep 1000 & wait"];
const PASSER_BY = ['sh', '-c', 'sleep 3; exit 7'];

/** Expected observations: a container with a log is unknown until it is stopped, and its exit code is not lost. */
export const restartStoryExpected: Readonly<Record<string, string>> = {
  created: 'CONTAINER_CREATED 0',
  withoutLog: 'CONTAINER_RUNNING 0',
  withLog: 'CONTAINER_UNKNOWN 0',
  passerBy: 'CONTAINER_UNKNOWN 0',
  exec: 'UNKNOWN',
  start: 'UNKNOWN',
  stats: 'OK',
  reopen: 'UNKNOWN',
  passerByLater: 'CONTAINER_UNKNOWN 0',
  stop: 'OK',
  stopped: 'CONTAINER_EXITED 3',
  stopPasserBy: 'OK',
  passerByStopped: 'CONTAINER_EXITED 7',
  removeUnknown: 'OK',
};

export async function playRestartStory(story: RestartStory): Promise<Record<string, string>> {
  const { call, wait } = story;
  const metadata = { name: 'restart', namespace: 'odd', uid: 'uid-restart' };
  const sandboxConfig = PodSandboxConfig.fromPartial({ metadata, logDirectory: story.logDirectory });
  const { podSandboxId } = await call('runPodSandbox', { config: sandboxConfig, runtimeHandler: '' });
  const create = async (name: string, command: string[], logPath: string) => {
    const image = { image: story.image };
    const config = ContainerConfig.fromPartial({ metadata: { name }, image, command, logPath });
    return (await call('createContainer', { podSandboxId, config, sandboxConfig })).containerId;
  };
  const run = async (name: string, command: string[], logPath: string) => {
    const containerId = await create(name, command, logPath);
    await call('startContainer', { containerId });
    return containerId;
  };
  const state = async (containerId: string) => {
    const { status } = await call('containerStatus', { containerId, verbose: false });
    const named = Object.entries(ContainerState).find(([, value]) => value === status?.state);
    return `${named?.[0]} ${status?.exitCode}`;
  };
  const created = await create('created', SLEEPER, '');
  const withoutLog = await run('without-log', SLEEPER, '');
  const withLog = await run('with-log', SLEEPER, 'with-log.log');
  const removed = await run('removed', SLEEPER, 'removed.log');
  const passerBy = await run('passer-by', PASSER_BY, 'passer-by.log');
  await story.restart();
  const observations: Record<string, string> = {
    created: await state(created),
    withoutLog: await state(withoutLog),
    withLog: await state(withLog),
    passerBy: await state(passerBy),
    exec: await outcomeOf(call('execSync', { containerId: withLog, cmd: ['true'], timeout: 5n })),
    start: await outcomeOf(call('startContainer', { containerId: withLog })),
    stats: await outcomeOf(call('containerStats', { containerId: withLog })),
    reopen: await outcomeOf(call('reopenContainerLog', { containerId: withLog })),
  };
  await wait(5_000);
  observations.passerByLater = await state(passerBy);
  observations.stop = await outcomeOf(call('stopContainer', { containerId: withLog, timeout: 10n }));
  observations.stopped = await state(withLog);
  observations.stopPasserBy = await outcomeOf(call('stopContainer', { containerId: passerBy, timeout: 10n }));
  observations.passerByStopped = await state(passerBy);
  observations.removeUnknown = await outcomeOf(call('removeContainer', { containerId: removed }));
  return observations;
}
