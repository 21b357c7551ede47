import { describe, expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import { runOnce } from '../../../../cli/commands/run/runOnce.ts';
import { fakeAgent } from '../../../fakes/agent.ts';
import { podRunning } from '../../../fakes/pods.ts';
import { simulation } from '../../../inspect/support/simulation.ts';
import { exited, podView, running, sandbox, waiting } from '../../../kubernetes/views.ts';

const { signal } = new AbortController();
const ready = { view: { sandbox: sandbox('10.1.0.2') } };
const podOf = (name: string, state: ReturnType<typeof running>, view: object = {}) =>
  podView({ main: { web: state }, meta: { name, uid: name }, view: { ...ready.view, ...view } });

/** Returns the messages of `runOnce` about an agent, and the seconds that it took. */
async function runOnceOn(agent: ReturnType<typeof fakeAgent>, happens = async (_: SimulatedClock) => {}) {
  const clock = new SimulatedClock();
  const startedAt = clock.now();
  const report = runOnce(agent, clock, signal);
  await happens(clock);
  const results = await clock.advanceUntilSettled(report);
  return { results, seconds: Math.round((clock.now() - startedAt) / 1_000) };
}

describe('pods that are run once', () => {
  test('are reported only once the state shown by the runtime is durable', async () => {
    const job = podRunning('job', 'sleep 1; exit 7', { restartPolicy: 'Never' });
    const { node, page } = await simulation({
      pods: [job],
      store: (real) => ({
        ...real,
        write: async (...fact: Parameters<typeof real.write>) => {
          await new Promise<void>((resolve) => node.clock.setTimeout(resolve, 3_000));
          await real.write(...fact);
        },
      }),
    });
    node.runtime.events.setDeliveryMode('dropped');
    const report = runOnce(page().agent, node.clock, signal);
    expect(await node.clock.advanceUntilSettled(report)).toMatchObject([
      { hasSucceeded: false, message: 'Failed: exit code 7' },
    ]);
  });

  test.each(['dropped', 'paused'] as const)(
    'are reported with their exits although the exit events are %s',
    async (how) => {
      const job = podRunning('job', 'sleep 1; exit 7', { restartPolicy: 'Never' });
      const { node, page } = await simulation({ pods: [job] });
      node.runtime.events.setDeliveryMode(how);
      const report = runOnce(page().agent, node.clock, signal);
      expect(await node.clock.advanceUntilSettled(report)).toMatchObject([
        { hasSucceeded: false, message: 'Failed: exit code 7' },
      ]);
    },
  );

  test('are reported when each of them is running or has completed', async () => {
    const agent = fakeAgent({ now: 0, views: [podOf('a', running()), podOf('b', exited(0), { hasEnded: true })] });
    const failed = podView({
      main: { web: exited(3) },
      spec: { restartPolicy: 'Never' },
      meta: { name: 'c', uid: 'c' },
    });
    agent.show({ ...failed, ...ready.view, hasEnded: true });
    const { results, seconds } = await runOnceOn(agent);
    expect(results).toMatchObject([
      { name: 'pod default/a', hasSucceeded: true, message: 'Running' },
      { name: 'pod default/b', hasSucceeded: true },
      { name: 'pod default/c', hasSucceeded: false, message: 'Failed: exit code 3' },
    ]);
    expect(seconds).toBe(1);
  });

  test('are checked ten times before they are reported, even if a busy host is slow in between', async () => {
    const agent = fakeAgent({ now: 0, views: [podOf('a', running(), { hasEnded: false })] });
    const clock = new SimulatedClock();
    let lateMs = 0;
    const busyClock = {
      now: () => clock.now() + lateMs,
      monotonic: () => clock.monotonic() + lateMs,
      setTimeout: (fn: () => void, ms: number) => clock.setTimeout(fn, ms),
      clearTimeout: (id: unknown) => clock.clearTimeout(id),
    };
    const report = runOnce(agent, busyClock, signal);
    await clock.advance(250);
    lateMs = 5_000;
    await clock.advance(250);
    const failed = podView({
      main: { web: exited(7) },
      spec: { restartPolicy: 'Never' },
      meta: { name: 'a', uid: 'a' },
    });
    agent.show({ ...failed, ...ready.view, hasEnded: true });
    expect(await clock.advanceUntilSettled(report)).toMatchObject([
      { hasSucceeded: false, message: 'Failed: exit code 7' },
    ]);
  });

  test('are reported only after a runtime list that starts later confirms them', async () => {
    const failed = podView({
      main: { web: exited(7) },
      spec: { restartPolicy: 'Never' },
      meta: { name: 'a', uid: 'a' },
    });
    const agent: ReturnType<typeof fakeAgent> = fakeAgent({
      now: 0,
      views: [podOf('a', running(), { hasEnded: false })],
      onConfirm: () => agent.show({ ...failed, ...ready.view, hasEnded: true }),
    });
    const { results } = await runOnceOn(agent);
    expect(results).toMatchObject([{ hasSucceeded: false, message: 'Failed: exit code 7' }]);
  });

  test('are not successful if the runtime never confirms them', async () => {
    const agent = fakeAgent({ now: 0, views: [podOf('a', running())] });
    const runtime = { name: '', version: '', state: 'not ready', since: 0, message: 'connect ENOENT /run/c.sock' };
    const { results, seconds } = await runOnceOn({ ...agent, confirmPods: async () => false }, async (clock) => {
      await clock.advance(5_000);
      agent.become({ runtime });
    });
    expect(results).toEqual([
      { name: 'pod default/a', hasSucceeded: true, message: 'Running' },
      { name: 'node', hasSucceeded: false, message: 'the container runtime is not ready: connect ENOENT /run/c.sock' },
    ]);
    expect(seconds).toBe(15);
    const silent = await runOnceOn({
      ...fakeAgent({ now: 0, views: [podOf('a', running())] }),
      confirmPods: async () => false,
    });
    expect(silent.results.at(-1)).toEqual({
      name: 'node',
      hasSucceeded: false,
      message: 'gave up before the container runtime confirmed the pods',
    });
  });

  test('are awaited, even before the node has started', async () => {
    const agent = fakeAgent({ now: 0, node: { state: 'awaitingSources' } });
    const { results, seconds } = await runOnceOn(agent, async (clock) => {
      await clock.advance(30_000);
      agent.show(podOf('a', waiting('ContainerCreating')));
      agent.become({ state: 'running' });
      await clock.advance(30_000);
      agent.show(podOf('a', running()));
    });
    expect(results).toEqual([{ name: 'pod default/a', hasSucceeded: true, message: 'Running' }]);
    expect(seconds).toBe(61);
  });

  test('time out when the ten attempts of a kubelet would be over', async () => {
    const agent = fakeAgent({ now: 0, views: [podOf('a', waiting('CrashLoopBackOff'))] });
    const { results, seconds } = await runOnceOn(agent);
    expect(results).toMatchObject([
      { hasSucceeded: false, message: expect.stringMatching(/gave up waiting: CrashLoopBackOff$/) },
    ]);
    expect(seconds).toBe(1_023);
  });

  test('fail after ten seconds if the runtime is down', async () => {
    const runtime = { name: '', version: '', state: 'not ready', since: 0, message: 'connect ENOENT /run/c.sock' };
    const { results, seconds } = await runOnceOn(fakeAgent({ now: 0, node: { state: 'starting', runtime } }));
    expect(seconds).toBe(10);
    const message = 'the container runtime is not ready: connect ENOENT /run/c.sock';
    expect(results).toEqual([{ name: 'node', hasSucceeded: false, message }]);
  });

  test('wait for a runtime that comes up within ten seconds', async () => {
    const runtime = { name: '', version: '', state: 'not ready', since: 0 };
    const agent = fakeAgent({ now: 0, node: { state: 'starting', runtime }, views: [podOf('a', running())] });
    const { results, seconds } = await runOnceOn(agent, async (clock) => {
      await clock.advance(8_000);
      agent.become({ runtime: { ...runtime, state: 'ready' } });
      await clock.advance(8_000);
      agent.become({ state: 'running' });
    });
    expect(results).toEqual([{ name: 'pod default/a', hasSucceeded: true, message: 'Running' }]);
    expect(seconds).toBe(17);
  });

  test('are not successful if the manifest path does not exist', async () => {
    const warnings = [
      { file: '/pods', path: '', message: 'no such file or directory' },
      { file: '/x.yaml', path: 'spec.imge', message: 'unknown field' },
    ];
    const { results } = await runOnceOn(fakeAgent({ now: 0, node: { warnings } }));
    expect(results).toEqual([{ name: '/pods', hasSucceeded: false, message: 'no such file or directory' }]);
  });

  test('are not successful if a manifest is invalid', async () => {
    const problems = [{ file: '/pods/a.yaml', path: 'spec', message: 'Required value' }];
    const { results } = await runOnceOn(fakeAgent({ now: 0, node: { state: 'partial', problems } }));
    expect(results).toEqual([{ name: '/pods/a.yaml', hasSucceeded: false, message: 'spec: Required value' }]);
  });
});
