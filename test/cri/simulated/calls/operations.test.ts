import { describe, expect, test } from '@jest/globals';
import { IMAGE, noAbort, runOne, simulate } from '../support.ts';

describe('what containers do', () => {
  test('one without a command runs until it is stopped, and ends with 143 on SIGTERM at once', async () => {
    const simulation = simulate();
    const { container } = await runOne(simulation);
    await simulation.clock.advance(86_400_000);
    expect(await simulation.play.containerState(container)).toMatch(/^CONTAINER_RUNNING/);
    const before = simulation.clock.now();
    await simulation.play.stop(container, 30);
    expect(simulation.clock.now()).toBe(before);
    expect(await simulation.play.containerState(container)).toMatch(/^CONTAINER_EXITED 143 Error/);
  });

  test('one that ignores SIGTERM is killed when the grace is over, not before', async () => {
    const simulation = simulate({ behaviours: { [IMAGE]: { ignoresSigterm: true } } });
    const { container } = await runOne(simulation);
    const stop = simulation.play.stop(container, 30);
    await simulation.clock.advance(29_999);
    expect(await simulation.play.containerState(container)).toMatch(/^CONTAINER_RUNNING/);
    await simulation.clock.advance(1);
    await stop;
    expect(await simulation.play.containerState(container)).toMatch(/^CONTAINER_EXITED 137 Error/);
  });

  test('one that takes its time on SIGTERM is not hurried by a second stop, and keeps its own exit code', async () => {
    const behaviour = { termAfterMs: 4000, termExitCode: 0 };
    const simulation = simulate({ behaviours: { [IMAGE]: behaviour } });
    const { container } = await runOne(simulation);
    const first = simulation.play.stop(container, 30);
    await simulation.clock.advance(3000);
    const second = simulation.play.stop(container, 30);
    await simulation.clock.advance(1000);
    await Promise.all([first, second]);
    expect(await simulation.play.containerState(container)).toMatch(/^CONTAINER_EXITED 0 Completed/);
  });

  test('one that runs out of memory ends as OOMKilled, and a later attempt may do better', async () => {
    const behaviour = ({ attempt }: { attempt: number }) =>
      attempt === 0 ? { exitAfterMs: 2000, oom: true } : undefined;
    const simulation = simulate({ behaviours: { [IMAGE]: behaviour } });
    const { sandbox, container } = await runOne(simulation);
    await simulation.clock.advance(2000);
    expect(await simulation.play.containerState(container)).toMatch(/^CONTAINER_EXITED 137 OOMKilled/);
    const next = await simulation.play.container(sandbox, 'web', 'main', [], 1);
    await simulation.play.start(next);
    await simulation.clock.advance(2000);
    expect(await simulation.play.containerState(next)).toMatch(/^CONTAINER_RUNNING/);
  });

  test('one can run out of memory by hand; if only a child is killed it runs on, and its end says so', async () => {
    const simulation = simulate();
    const { runtime, play } = simulation;
    const { sandbox, container } = await runOne(simulation);
    runtime.oomKill(container);
    expect(await play.containerState(container)).toMatch(/^CONTAINER_EXITED 137 OOMKilled/);
    const other = await play.container(sandbox, 'web', 'other', []);
    await play.start(other);
    runtime.oomKill(other, { child: true });
    expect(await play.containerState(other)).toMatch(/^CONTAINER_RUNNING 0 OOMKilled/);
    runtime.exitContainer(other, 1);
    expect(await play.containerState(other)).toMatch(/^CONTAINER_EXITED 1 OOMKilled/);
  });

  test('one that cannot be started is left with 128 StartError and the words of the OCI runtime', async () => {
    const startError = 'exec: "nope": executable file not found in $PATH';
    const { play } = simulate({ behaviours: { [IMAGE]: { startError } } });
    const container = await play.container(await play.sandbox('web'), 'web', 'main', ['nope']);
    await expect(play.start(container)).rejects.toMatchObject({
      reason: 'RuntimeError',
      message: expect.stringContaining(`unable to start container process: ${startError}: unknown`),
    });
    expect(await play.containerState(container)).toMatch(/^CONTAINER_EXITED 128 StartError failed to create/);
  });

  test('a test may end a container by hand', async () => {
    const simulation = simulate();
    const { container } = await runOne(simulation);
    simulation.runtime.exitContainer(container, 42);
    expect(await simulation.play.containerState(container)).toMatch(/^CONTAINER_EXITED 42 Error/);
  });

  test('times are those of the clock, in nanoseconds', async () => {
    const simulation = simulate({ latency: { runPodSandbox: 0, createContainer: 0, startContainer: 50 } });
    const { clock, cri } = simulation;
    const made = BigInt(clock.now()) * 1_000_000n;
    const { container } = await clock.advanceUntilSettled(runOne(simulation, ['sh', '-c', 'sleep 2; exit 3']));
    await clock.advance(5000);
    const status = await clock.advanceUntilSettled(
      cri.containerStatus({ containerId: container, verbose: false }, { signal: noAbort }),
    );
    const startedAt = made + 50_000_000n;
    expect(status.status).toMatchObject({
      createdAt: made,
      startedAt,
      finishedAt: startedAt + 2_000_000_000n,
      exitCode: 3,
    });
  });
});

describe('sandboxes', () => {
  test('a killed one is not ready, keeps its address, and its containers run on until it is stopped', async () => {
    const simulation = simulate();
    const { sandbox, container } = await runOne(simulation);
    simulation.runtime.killSandbox(sandbox);
    expect(await simulation.play.sandboxState(sandbox)).toBe('SANDBOX_NOTREADY with an address');
    expect(await simulation.play.containerState(container)).toMatch(/^CONTAINER_RUNNING/);
    await simulation.play.stopSandbox(sandbox);
    expect(await simulation.play.sandboxState(sandbox)).toBe('SANDBOX_NOTREADY without an address');
    expect(await simulation.play.containerState(container)).toMatch(/^CONTAINER_EXITED 137/);
  });

  test('one removed by somebody else is gone with its containers, and its names are free', async () => {
    const simulation = simulate();
    const { sandbox } = await runOne(simulation);
    simulation.runtime.removeSandbox(sandbox);
    expect(await simulation.play.listSandboxes({})).toEqual([]);
    expect(await simulation.play.list({})).toEqual([]);
    await expect(runOne(simulation)).resolves.toBeDefined();
  });

  test('addresses are unique, run out, and come back when a sandbox is stopped', async () => {
    const { play, cri } = simulate({ addresses: 2 });
    const ids = [await play.sandbox('a'), await play.sandbox('b')];
    const status = (podSandboxId: string) =>
      cri.podSandboxStatus({ podSandboxId, verbose: false }, { signal: noAbort });
    const ips = (await Promise.all(ids.map(status))).map(({ status }) => status?.network?.ip);
    expect(ips).toEqual(['10.88.0.2', '10.88.0.3']);
    await expect(play.sandbox('c')).rejects.toThrow('no IP addresses available');
    await play.stopSandbox(ids[0] ?? '');
    await expect(play.sandbox('c')).resolves.toBeDefined();
  });

  test('one given up halfway is never seen, and its name stays taken until it is taken down', async () => {
    const { clock, cri, play } = simulate({ latency: { runPodSandbox: 84, stopPodSandbox: 30 } });
    const config = {
      config: { metadata: { name: 'web', namespace: 'scenario', uid: 'u1', attempt: 0 } },
    };
    const { RunPodSandboxRequest } = await import('../../../../cri/generated/runtime.ts');
    const caller = new AbortController();
    const half = cri.runPodSandbox(RunPodSandboxRequest.fromPartial(config), { signal: caller.signal });
    const given = expect(half).rejects.toMatchObject({ reason: 'Cancelled' });
    await clock.advance(40);
    caller.abort();
    await given;
    await expect(play.sandbox('web')).rejects.toThrow('is reserved for');
    await clock.advance(30);
    expect(await clock.advanceUntilSettled(play.listSandboxes({}))).toEqual([]);
    await expect(clock.advanceUntilSettled(play.sandbox('web'))).resolves.toBeDefined();
  });

  test('an old runtime fails to stop what does not exist, but still removes it', async () => {
    const { play } = simulate({ absentStopsFail: true });
    await expect(play.stop('gone', 1)).rejects.toMatchObject({ reason: 'NotFound' });
    await expect(play.stopSandbox('gone')).rejects.toMatchObject({ reason: 'NotFound' });
    await expect(play.removeContainer('gone')).resolves.toBeUndefined();
    await expect(play.removeSandbox('gone')).resolves.toBeUndefined();
  });
});

describe('races', () => {
  test('a container made while its sandbox goes does not stay without it', async () => {
    const { clock, play } = simulate({ latency: { createContainer: 50, stopPodSandbox: 0, removePodSandbox: 10 } });
    const sandbox = await clock.advanceUntilSettled(play.sandbox('web'));
    const late = expect(play.container(sandbox, 'web', 'main', [])).rejects.toMatchObject({ reason: 'NotFound' });
    await clock.advanceUntilSettled(play.removeSandbox(sandbox));
    await clock.advance(100);
    await late;
    expect(await clock.advanceUntilSettled(play.list({}))).toEqual([]);
  });

  test('a container whose sandbox is stopped while it starts does not run', async () => {
    const { clock, play } = simulate({ latency: { startContainer: 56, stopPodSandbox: 10 } });
    const sandbox = await clock.advanceUntilSettled(play.sandbox('web'));
    const container = await clock.advanceUntilSettled(play.container(sandbox, 'web', 'main', []));
    const start = expect(play.start(container)).rejects.toThrow('is not running');
    await clock.advanceUntilSettled(play.stopSandbox(sandbox));
    await clock.advance(100);
    await start;
    expect(await clock.advanceUntilSettled(play.containerState(container))).toMatch(/^CONTAINER_EXITED 128 StartError/);
  });

  test('a sandbox is not removed while a container in it starts, which fails then', async () => {
    const { clock, play } = simulate({ latency: { startContainer: 200 } });
    const sandbox = await clock.advanceUntilSettled(play.sandbox('web'));
    const container = await clock.advanceUntilSettled(play.container(sandbox, 'web', 'main', []));
    const start = expect(play.start(container)).rejects.toThrow('is not running');
    await expect(clock.advanceUntilSettled(play.removeSandbox(sandbox))).rejects.toThrow(
      "is in starting state, can't be removed",
    );
    await clock.advance(200);
    await start;
    await clock.advanceUntilSettled(play.removeSandbox(sandbox));
    expect(await clock.advanceUntilSettled(play.list({}))).toEqual([]);
  });

  test('a container is started once, and not removed while it starts', async () => {
    const { clock, play } = simulate({ latency: { startContainer: 56 } });
    const sandbox = await clock.advanceUntilSettled(play.sandbox('web'));
    const container = await clock.advanceUntilSettled(play.container(sandbox, 'web', 'main', []));
    const start = play.start(container);
    await expect(play.start(container)).rejects.toThrow('container is already in starting state');
    await expect(play.removeContainer(container)).rejects.toThrow("container is in starting state, can't be removed");
    await clock.advanceUntilSettled(start);
  });
});
