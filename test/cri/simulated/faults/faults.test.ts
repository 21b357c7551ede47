import { describe, expect, test } from '@jest/globals';
import { IMAGE, noAbort, runOne, simulate } from '../support.ts';

describe('a scripted fault', () => {
  test('fails only matching calls for the configured number of times, and they have no effect', async () => {
    const { runtime, play } = simulate();
    const fault = runtime.faults.add({
      call: 'runPodSandbox',
      times: 2,
      match: ({ config }) => config?.metadata?.name === 'web',
      error: { message: 'no network today' },
    });
    await expect(play.sandbox('web')).rejects.toMatchObject({ reason: 'RuntimeError' });
    await expect(play.sandbox('other')).resolves.toBeDefined();
    await expect(play.sandbox('web')).rejects.toThrow('no network today');
    expect(await play.listSandboxes({})).toEqual(['<sandbox other> SANDBOX_READY']);
    await expect(play.sandbox('web')).resolves.toBeDefined();
    expect(fault.countHits()).toBe(2);
  });

  test('maps status codes to the reasons of a gRPC client', async () => {
    const { runtime, play } = simulate();
    const reasons: unknown[] = [];
    for (const code of ['UNAVAILABLE', 'DEADLINE_EXCEEDED', 'NOT_FOUND', 'UNIMPLEMENTED', 'UNKNOWN'] as const) {
      runtime.faults.add({ call: 'listContainers', error: { code, message: 'scripted' } });
      reasons.push(await play.list({}).catch(({ reason }) => reason));
    }
    expect(reasons).toEqual(['RuntimeUnavailable', 'RuntimeUnavailable', 'NotFound', 'Unimplemented', 'RuntimeError']);
  });

  test('adds a delay to the latency', async () => {
    const { clock, runtime, play } = simulate({ latency: { runPodSandbox: 84 } });
    runtime.faults.add({ call: 'runPodSandbox', delayMs: 1000 });
    const before = clock.now();
    await clock.advanceUntilSettled(play.sandbox('web'));
    expect(clock.now() - before).toBe(1084);
  });

  test('hangs a call until its timeout on the clock, or until it is released', async () => {
    const { clock, runtime, cri } = simulate();
    const fault = runtime.faults.add({ call: '*', times: Number.POSITIVE_INFINITY, hang: true });
    const limited = cri.status({ verbose: false }, { signal: noAbort, timeoutMs: 2000 });
    const late = expect(limited).rejects.toMatchObject({ reason: 'RuntimeUnavailable' });
    const patient = cri.version({ version: 'v1' }, { signal: noAbort });
    await clock.advance(2000);
    await late;
    fault.release();
    expect((await patient).runtimeName).toBe('simulated');
    expect(clock.pending).toBe(0);
  });

  test('loses the reply of a call that takes effect', async () => {
    const { clock, runtime, play } = simulate();
    runtime.faults.add({ call: 'runPodSandbox', lostReply: 'error' });
    await expect(play.sandbox('a')).rejects.toMatchObject({ reason: 'RuntimeUnavailable' });
    await expect(play.sandbox('a')).rejects.toThrow('is reserved for');
    runtime.faults.add({ call: 'runPodSandbox', lostReply: 'timeout' });
    const silent = expect(play.sandbox('b')).rejects.toMatchObject({ reason: 'RuntimeUnavailable' });
    await clock.advance(120_000);
    await silent;
    await expect(play.sandbox('b')).rejects.toThrow('is reserved for');
  });

  test('can delay a reply until the container has exited, and the start still succeeds', async () => {
    const simulation = simulate();
    const { runtime, clock, play } = simulation;
    const sandbox = await play.sandbox('web');
    const container = await play.container(sandbox, 'web', 'main', ['true']);
    runtime.faults.add({ call: 'startContainer', lateReplyMs: 3000 });
    const start = play.start(container);
    await clock.advance(1000);
    expect(await play.containerState(container)).toMatch(/^CONTAINER_EXITED 0 Completed/);
    await clock.advance(2000);
    await expect(start).resolves.toBeUndefined();
  });

  test.each(['before', 'after'] as const)('can crash the runtime %s the call takes effect', async (crash) => {
    const { runtime, play } = simulate();
    runtime.faults.add({ call: 'runPodSandbox', crash });
    await expect(play.sandbox('web')).rejects.toMatchObject({ reason: 'RuntimeUnavailable' });
    await expect(play.listSandboxes({})).rejects.toMatchObject({ reason: 'RuntimeUnavailable' });
    runtime.restart();
    expect(await play.listSandboxes({})).toHaveLength(crash === 'after' ? 1 : 0);
  });

  test('does not prevent the cancellation of an aborted call', async () => {
    const { runtime, cri } = simulate();
    runtime.faults.add({ call: 'version', hang: true });
    const caller = new AbortController();
    const call = cri.version({ version: 'v1' }, { signal: caller.signal });
    caller.abort();
    await expect(call).rejects.toMatchObject({ reason: 'Cancelled' });
    await expect(cri.version({ version: 'v1' }, { signal: caller.signal })).rejects.toMatchObject({
      reason: 'Cancelled',
    });
    expect(runtime.calls).toHaveLength(1);
  });
});

describe('a runtime that goes down', () => {
  test('fails the calls in flight, while containers continue to run and may exit', async () => {
    const simulation = simulate();
    const { container } = await runOne(simulation, ['sleep', '10']);
    const stubborn = await runAs(simulation, 'stubborn', ['sh', '-c', "trap '' TERM; sleep 100"]);
    const stop = expect(simulation.play.stop(stubborn, 30)).rejects.toMatchObject({ reason: 'RuntimeUnavailable' });
    await simulation.clock.advance(1000);
    simulation.runtime.down();
    await stop;
    await simulation.clock.advance(60_000);
    simulation.runtime.restart();
    expect(await simulation.play.containerState(container)).toMatch(/^CONTAINER_EXITED 0 Completed/);
    expect(await simulation.play.containerState(stubborn)).toMatch(/^CONTAINER_RUNNING/);
  });

  test('may come back with containers in an unknown state, which run on and can be stopped and removed', async () => {
    const simulation = simulate();
    const { runtime, play, clock } = simulation;
    const { container } = await runOne(simulation, ['sleep', '10']);
    runtime.restart({ unknown: () => true });
    expect(await play.containerState(container)).toBe('CONTAINER_UNKNOWN 0, created started');
    expect([...runtime.containers()]).toMatchObject([{ state: 'running' }]);
    await expect(play.exec(container, ['true'])).rejects.toThrow('container is in CONTAINER_UNKNOWN state');
    await expect(play.start(container)).rejects.toThrow('container is in CONTAINER_UNKNOWN state');
    await clock.advance(20_000);
    expect(await play.containerState(container)).toBe('CONTAINER_UNKNOWN 0, created started');
    await play.stop(container, 1);
    expect(await play.containerState(container)).toMatch(/^CONTAINER_EXITED 0 Completed/);
  });

  test('may come back without the recorded status of such containers, such as their start time', async () => {
    const simulation = simulate();
    const { runtime, play } = simulation;
    const { container } = await runOne(simulation, ['sleep', '10']);
    runtime.restart({ unknown: () => true, unread: () => true });
    expect(await play.containerState(container)).toBe('CONTAINER_UNKNOWN 255 Unknown, created');
    await play.stop(container, 1);
    expect(await play.containerState(container)).toBe('CONTAINER_EXITED 143 Unknown, created finished');
  });

  test('records a new start time for a container with a lost status once the container is found running', async () => {
    const simulation = simulate();
    const { clock, cri, runtime, play } = simulation;
    const { container } = await runOne(simulation, ['sleep', '100']);
    runtime.restart({ unknown: () => true, unread: () => true });
    await clock.advance(5_000);
    runtime.restart();
    expect(await play.containerState(container)).toBe('CONTAINER_RUNNING 0 Unknown, created started');
    const { status } = await cri.containerStatus({ containerId: container, verbose: false }, { signal: noAbort });
    expect(status?.startedAt).toBe(BigInt(clock.now()) * 1_000_000n);
  });

  test('may have lost one pod with its shim', async () => {
    const simulation = simulate();
    const { runtime, play } = simulation;
    const { sandbox, container } = await runOne(simulation);
    const other = await runAs(simulation, 'other', []);
    runtime.restart({ keepContainers: ({ podName }) => podName !== 'web' });
    expect(await play.containerState(container)).toMatch(/^CONTAINER_EXITED 255 Unknown/);
    expect([...runtime.sandboxes()].map(({ id, ready }) => [id === sandbox, ready])).toEqual([
      [true, false],
      [false, true],
    ]);
    expect(await play.containerState(other)).toMatch(/^CONTAINER_RUNNING/);
  });

  test('in a reboot comes back with unknown exits and sandboxes that are not ready', async () => {
    const simulation = simulate();
    const { sandbox, container } = await runOne(simulation);
    simulation.runtime.restart({ keepContainers: false });
    expect(await simulation.play.containerState(container)).toMatch(/^CONTAINER_EXITED 255 Unknown/);
    expect(await simulation.play.sandboxState(sandbox)).toMatch(/^SANDBOX_NOTREADY/);
  });
});

test('the call log contains every call in order, with its request and time', async () => {
  const simulation = simulate();
  const { clock, runtime, play } = simulation;
  const { container } = await runOne(simulation);
  await clock.advance(1000);
  await play.list({});
  expect(runtime.calls.map(({ call }) => call)).toEqual([
    'runPodSandbox',
    'createContainer',
    'startContainer',
    'listContainers',
  ]);
  expect(runtime.calls[2]).toMatchObject({ request: { containerId: container }, at: clock.now() - 1000 });
});

describe('images', () => {
  const spec = (image: string) => ({
    image: { image, annotations: {}, userSpecifiedImage: '', runtimeHandler: '', imageRef: '' },
  });
  const pull = (name: string) => ({ ...spec(name), auth: undefined, sandboxConfig: undefined });

  test('take the pull time of the registry, and unknown ones are not found', async () => {
    const registry = { 'nginx:1.27': { pullMs: 3000, sizeBytes: 70_000_000 } };
    const { clock, cri } = simulate({ images: { present: [IMAGE], registry } });
    const before = clock.now();
    const { imageRef } = await clock.advanceUntilSettled(cri.pullImage(pull('nginx:1.27'), { signal: noAbort }));
    expect(clock.now() - before).toBe(3000);
    const full = spec('docker.io/library/nginx:1.27');
    const { image } = await cri.imageStatus({ ...full, verbose: false }, { signal: noAbort });
    expect(image).toMatchObject({ id: imageRef, size: 70_000_000n, repoTags: ['docker.io/library/nginx:1.27'] });
    await expect(cri.pullImage(pull('nobody/knows'), { signal: noAbort })).rejects.toMatchObject({
      reason: 'NotFound',
      message: expect.stringMatching(/failed to pull and unpack image "docker.io\/nobody\/knows:latest": .*not found$/),
    });
    await cri.removeImage(spec(imageRef), { signal: noAbort });
    const { images } = await cri.listImages({ filter: undefined }, { signal: noAbort });
    expect(images.map(({ repoTags }) => repoTags)).toEqual([[IMAGE]]);
  });

  test('that disappear do not affect running containers, but no new ones can be created until they are back', async () => {
    const simulation = simulate();
    const { runtime, play } = simulation;
    const { sandbox, container } = await runOne(simulation);
    runtime.images.discard(IMAGE);
    expect(await play.containerState(container)).toMatch(/^CONTAINER_RUNNING/);
    await expect(play.container(sandbox, 'web', 'next', [])).rejects.toMatchObject({ reason: 'NotFound' });
    runtime.images.add(IMAGE);
    await expect(play.container(sandbox, 'web', 'next', [])).resolves.toBeDefined();
  });

  test('fail to be pulled with the configured error until the registry recovers', async () => {
    const { clock, runtime, cri } = simulate({ images: { registry: { web: { error: { message: 'i/o timeout' } } } } });
    const failing = clock.advanceUntilSettled(cri.pullImage(pull('web'), { signal: noAbort }));
    await expect(failing).rejects.toMatchObject({
      reason: 'RuntimeError',
      message: expect.stringMatching(/i\/o timeout$/),
    });
    runtime.images.publish('web', { pullMs: 0 });
    await expect(cri.pullImage(pull('web'), { signal: noAbort })).resolves.toBeDefined();
  });
});

/** Starts a further running container in its own sandbox. */
async function runAs({ play }: ReturnType<typeof simulate>, name: string, command: readonly string[]) {
  const container = await play.container(await play.sandbox(name), name, 'main', command);
  await play.start(container);
  return container;
}
