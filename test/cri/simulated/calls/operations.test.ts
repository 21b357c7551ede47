import { describe, expect, test } from '@jest/globals';
import { IMAGE, noAbort, runOne, simulate } from '../support.ts';

describe('a simulated container', () => {
  test('without a command runs until it is stopped, and exits with 143 on SIGTERM at once', async () => {
    const simulation = simulate();
    const { container } = await runOne(simulation);
    await simulation.clock.advance(86_400_000);
    expect(await simulation.play.containerState(container)).toMatch(/^CONTAINER_RUNNING/);
    const before = simulation.clock.now();
    await simulation.play.stop(container, 30);
    expect(simulation.clock.now()).toBe(before);
    expect(await simulation.play.containerState(container)).toMatch(/^CONTAINER_EXITED 143 Error/);
  });

  test('that ignores SIGTERM is killed when the grace period is over, not before', async () => {
    const simulation = simulate({ behaviours: { [IMAGE]: { ignoresSigterm: true } } });
    const { container } = await runOne(simulation);
    const stop = simulation.play.stop(container, 30);
    await simulation.clock.advance(29_999);
    expect(await simulation.play.containerState(container)).toMatch(/^CONTAINER_RUNNING/);
    await simulation.clock.advance(1);
    await stop;
    expect(await simulation.play.containerState(container)).toMatch(/^CONTAINER_EXITED 137 Error/);
  });

  test('that is slow on SIGTERM is not accelerated by a second stop, and exits with its own code', async () => {
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

  test('that runs out of memory exits as OOMKilled, and a later attempt may succeed', async () => {
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

  test('can be OOM-killed by a test, and continues to run if only a child is killed, which its exit shows', async () => {
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

  test('that cannot start exits with 128 StartError and the message of the OCI runtime', async () => {
    const startError = 'exec: "nope": executable file not found in $PATH';
    const { play } = simulate({ behaviours: { [IMAGE]: { startError } } });
    const container = await play.container(await play.sandbox('web'), 'web', 'main', ['nope']);
    await expect(play.start(container)).rejects.toMatchObject({
      reason: 'RuntimeError',
      message: expect.stringContaining(`unable to start container process: ${startError}: unknown`),
    });
    expect(await play.containerState(container)).toMatch(/^CONTAINER_EXITED 128 StartError failed to create/);
  });

  test('can be terminated by a test', async () => {
    const simulation = simulate();
    const { container } = await runOne(simulation);
    simulation.runtime.exitContainer(container, 42);
    expect(await simulation.play.containerState(container)).toMatch(/^CONTAINER_EXITED 42 Error/);
  });

  test('has times from the clock, in nanoseconds', async () => {
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
  test('a killed sandbox is not ready, but retains its address, and its containers run until it is stopped', async () => {
    const simulation = simulate();
    const { sandbox, container } = await runOne(simulation);
    simulation.runtime.killSandbox(sandbox);
    expect(await simulation.play.sandboxState(sandbox)).toBe('SANDBOX_NOTREADY with an address');
    expect(await simulation.play.containerState(container)).toMatch(/^CONTAINER_RUNNING/);
    await simulation.play.stopSandbox(sandbox);
    expect(await simulation.play.sandboxState(sandbox)).toBe('SANDBOX_NOTREADY without an address');
    expect(await simulation.play.containerState(container)).toMatch(/^CONTAINER_EXITED 137/);
  });

  test('a sandbox removed externally is gone with its containers, and its names are free', async () => {
    const simulation = simulate();
    const { sandbox } = await runOne(simulation);
    simulation.runtime.removeSandbox(sandbox);
    expect(await simulation.play.listSandboxes({})).toEqual([]);
    expect(await simulation.play.list({})).toEqual([]);
    await expect(runOne(simulation)).resolves.toBeDefined();
  });

  test('addresses are unique, run out, and are released when a sandbox is stopped', async () => {
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

  test('an aborted sandbox creation is never listed, and its name stays reserved until it is cleaned up', async () => {
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

  test('an old runtime fails to stop a missing object, but still removes it', async () => {
    const { play } = simulate({ absentStopsFail: true });
    await expect(play.stop('gone', 1)).rejects.toMatchObject({ reason: 'NotFound' });
    await expect(play.stopSandbox('gone')).rejects.toMatchObject({ reason: 'NotFound' });
    await expect(play.removeContainer('gone')).resolves.toBeUndefined();
    await expect(play.removeSandbox('gone')).resolves.toBeUndefined();
  });
});

describe('races', () => {
  test('a container created during the removal of its sandbox does not outlive it', async () => {
    const { clock, play } = simulate({ latency: { createContainer: 50, stopPodSandbox: 0, removePodSandbox: 10 } });
    const sandbox = await clock.advanceUntilSettled(play.sandbox('web'));
    const late = expect(play.container(sandbox, 'web', 'main', [])).rejects.toMatchObject({ reason: 'NotFound' });
    await clock.advanceUntilSettled(play.removeSandbox(sandbox));
    await clock.advance(100);
    await late;
    expect(await clock.advanceUntilSettled(play.list({}))).toEqual([]);
  });

  test('a container whose sandbox is stopped during its start does not run', async () => {
    const { clock, play } = simulate({ latency: { startContainer: 56, stopPodSandbox: 10 } });
    const sandbox = await clock.advanceUntilSettled(play.sandbox('web'));
    const container = await clock.advanceUntilSettled(play.container(sandbox, 'web', 'main', []));
    const start = expect(play.start(container)).rejects.toThrow('is not running');
    await clock.advanceUntilSettled(play.stopSandbox(sandbox));
    await clock.advance(100);
    await start;
    expect(await clock.advanceUntilSettled(play.containerState(container))).toMatch(/^CONTAINER_EXITED 128 StartError/);
  });

  test('a sandbox cannot be removed while a container in it is starting, which then fails', async () => {
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

  test('a container starts once, and cannot be removed while it is starting', async () => {
    const { clock, play } = simulate({ latency: { startContainer: 56 } });
    const sandbox = await clock.advanceUntilSettled(play.sandbox('web'));
    const container = await clock.advanceUntilSettled(play.container(sandbox, 'web', 'main', []));
    const start = play.start(container);
    await expect(play.start(container)).rejects.toThrow('container is already in starting state');
    await expect(play.removeContainer(container)).rejects.toThrow("container is in starting state, can't be removed");
    await clock.advanceUntilSettled(start);
  });
});
