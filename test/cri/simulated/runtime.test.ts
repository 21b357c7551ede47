import { expect, test } from '@jest/globals';
import { runIn, simulate } from './support.ts';

test('the objects of the runtime can be inspected without a call, and are current', async () => {
  const simulation = simulate();
  const { runtime, clock } = simulation;
  const { sandbox, container } = await runIn(simulation, 'web');
  const calls = runtime.calls.length;
  const [box] = [...runtime.sandboxes()];
  const [main] = [...runtime.containers()];
  expect(box).toMatchObject({
    id: sandbox,
    podUid: 'uid-of-web',
    podName: 'web',
    namespace: 'default',
    attempt: 0,
    ready: true,
    labels: { app: 'web' },
    ip: '10.88.0.2',
    cgroup: `/kubepods/burstable/web/${sandbox}`,
  });
  expect(main).toMatchObject({
    id: container,
    podUid: 'uid-of-web',
    podName: 'web',
    namespace: 'default',
    containerName: 'main',
    attempt: 2,
    labels: { part: 'main' },
    state: 'running',
    startedAt: clock.now(),
    exitCode: undefined,
    cgroupParent: '/kubepods/burstable/web',
    cgroup: `/kubepods/burstable/web/${container}`,
    mounts: [{ containerPath: '/data', hostPath: '/srv/data', readonly: true }],
  });
  expect(main?.sandbox).toBe(box);
  runtime.exitContainer(container, 3);
  expect(main).toMatchObject({ state: 'exited', exitCode: 3 });
  expect(runtime.calls).toHaveLength(calls);
});

test('killing a cgroup kills all processes in it and below it, and no others', async () => {
  const simulation = simulate();
  const { runtime, play } = simulation;
  const web = await runIn(simulation, 'web');
  const webTwo = await runIn(simulation, 'web2');
  const other = await runIn(simulation, 'other');
  runtime.killCgroup('/kubepods/burstable/web');
  runtime.killCgroup(`/kubepods/burstable/other/${other.container}`);
  expect(await play.containerState(web.container)).toMatch(/^CONTAINER_EXITED 137 Error/);
  expect(await play.sandboxState(web.sandbox)).toMatch(/^SANDBOX_NOTREADY/);
  expect(await play.containerState(other.container)).toMatch(/^CONTAINER_EXITED 137 Error/);
  expect(await play.sandboxState(other.sandbox)).toMatch(/^SANDBOX_READY/);
  expect(await play.containerState(webTwo.container)).toMatch(/^CONTAINER_RUNNING/);
});
