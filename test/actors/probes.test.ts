import { describe, expect, test } from '@jest/globals';
import { createReplay } from '../../actors/replay/replay.ts';
import type { Container, Probe } from '../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { type SimulatedNode, simulatedNode } from '../fakes/node.ts';
import { containerWith, podWith } from '../fakes/pods.ts';

const probe = (word: string, more: Partial<Probe> = {}): Probe => ({
  exec: { command: [word] },
  periodSeconds: 2,
  failureThreshold: 2,
  ...more,
});
const podProbed = (name: string, more: Partial<Container>, spec: Partial<Pod['spec']> = {}): Pod =>
  podWith(name, { terminationGracePeriodSeconds: 3, containers: [containerWith('main', more)], ...spec });

/** The results of the probe commands by their name: an exit code, or a hang. */
type Health = Record<string, number | 'hangs'>;

async function probedNode(pods: readonly Pod[], health: Health): Promise<SimulatedNode> {
  const node = await simulatedNode({ pods });
  node.runtime.exec = ({ cmd: [word = ''] }) => {
    const answer = health[word] ?? 0;
    return answer === 'hangs' ? { afterMs: 3_600_000 } : { exitCode: answer, stdout: `${word} says ${answer}` };
  };
  return node;
}

const condition = (node: SimulatedNode, pod: string, type: string) =>
  node.pod(pod).conditions?.find((each) => each.type === type)?.status;
const flags = (node: SimulatedNode, pod = 'web', name = 'main') => {
  const { started, ready, restartCount } = node.container(pod, name);
  return { started, ready, restarts: restartCount };
};
const execCount = (node: SimulatedNode) => node.calls('execSync').length;

describe('readiness', () => {
  test('C15, C29: starts as failed, and the container and its pod become ready and unready with the probe', async () => {
    const health: Health = { ready: 1 };
    const node = await probedNode([podProbed('web', { readinessProbe: probe('ready') })], health);
    await node.advance('10s');
    expect(flags(node)).toEqual({ started: true, ready: false, restarts: 0 });
    expect(condition(node, 'web', 'Ready')).toBe('False');
    health.ready = 0;
    await node.advance('2500ms');
    expect(flags(node)).toEqual({ started: true, ready: true, restarts: 0 });
    expect([condition(node, 'web', 'ContainersReady'), condition(node, 'web', 'Ready')]).toEqual(['True', 'True']);
    health.ready = 1;
    await node.advance('2500ms');
    expect(flags(node).ready).toBe(true);
    await node.advance('2s');
    expect(flags(node)).toEqual({ started: true, ready: false, restarts: 0 });
    expect(condition(node, 'web', 'Ready')).toBe('False');
  });

  test('is explained by its last failure and the time of the next attempt', async () => {
    const node = await probedNode([podProbed('web', { readinessProbe: probe('ready') })], { ready: 3 });
    await node.advance('5s');
    const explanation = node.agent.explain('web');
    expect(explanation?.answer).toMatch(
      /^container main is running but not ready: Readiness probe failed: ready says 3; next attempt at \S+ \(in \ds\)$/,
    );
    expect(explanation?.pod.children[0]?.children).toMatchObject([
      { kind: 'probe', name: 'readiness', state: 'failing.waiting', lastFailure: { reason: 'Unhealthy' } },
    ]);
  });

  test('C15: of a pod also requires the condition of its readiness gate', async () => {
    const gated = podProbed('web', { readinessProbe: probe('ready') }, { readinessGates: [{ conditionType: 'lb' }] });
    const node = await probedNode([gated], {});
    await node.advance('5s');
    expect([condition(node, 'web', 'ContainersReady'), condition(node, 'web', 'Ready')]).toEqual(['True', 'False']);
    const conditionOf = (status: 'True' | 'False') => ({
      ...gated,
      status: { conditions: [{ type: 'lb', status, lastTransitionTime: '2026-01-01T00:00:00Z' }] },
    });
    node.apply(conditionOf('True'));
    await node.advance('1s');
    expect([condition(node, 'web', 'lb'), condition(node, 'web', 'Ready')]).toEqual(['True', 'True']);
    node.apply(conditionOf('False'));
    await node.advance('1s');
    expect([condition(node, 'web', 'lb'), condition(node, 'web', 'Ready')]).toEqual(['False', 'False']);
    expect(flags(node)).toEqual({ started: true, ready: true, restarts: 0 });
  });

  test('is still probed while the pod terminates, but liveness is not', async () => {
    const command = ['sh', '-c', 'trap "" TERM; sleep 1d'];
    const more = { command, readinessProbe: probe('ready'), livenessProbe: probe('live') };
    const health: Health = {};
    const node = await probedNode([podProbed('web', more, { terminationGracePeriodSeconds: 20 })], health);
    await node.advance('5s');
    node.remove('web');
    Object.assign(health, { ready: 1, live: 1 });
    await node.advance('8s');
    expect(flags(node)).toMatchObject({ started: true, ready: false });
    expect(node.containerView('web')).toMatchObject({
      state: 'stopping.killing.graceful',
      children: [{ name: 'readiness', tags: expect.arrayContaining(['failing']) }],
    });
  });
});

describe('liveness', () => {
  test('C29: starts as passed, and a failure kills the container within the grace period of the probe and restarts it', async () => {
    const health: Health = { live: 0 };
    const command = ['sh', '-c', 'trap "" TERM; sleep 1d'];
    const live = probe('live', { terminationGracePeriodSeconds: 5 });
    const pod = podProbed('web', { command, livenessProbe: live }, { terminationGracePeriodSeconds: 600 });
    const node = await probedNode([pod], health);
    await node.advance('5s');
    expect(flags(node)).toEqual({ started: true, ready: true, restarts: 0 });
    health.live = 1;
    await node.advance('4s');
    expect(node.containerView('web')).toMatchObject({ state: 'stopping.killing.graceful', now: { kind: 'running' } });
    health.live = 0;
    await node.advance('6s');
    expect(flags(node)).toEqual({ started: true, ready: true, restarts: 1 });
    expect(node.container('web').lastState?.terminated).toMatchObject({ exitCode: 137 });
  });

  test('C7: backs off a container that repeatedly fails its probe like one that crashes', async () => {
    const node = await probedNode([podProbed('web', { livenessProbe: probe('live') })], { live: 1 });
    await node.advance('10s');
    expect(node.container('web')).toMatchObject({
      restartCount: 2,
      state: { waiting: { reason: 'CrashLoopBackOff' } },
    });
    // The explanation contains the probe that has caused the exit, and its output.
    expect(node.agent.explain('web')?.answer).toMatch(
      /keeps failing: exit code 143 \(SIGTERM\) after \d+s, killed: Liveness probe failed: live says 1; restarts at /,
    );
  });

  const secondsOfStarts = (node: SimulatedNode): number[] => {
    const starts = node.calls('startContainer').map(({ at }) => at);
    return starts.map((at) => Math.floor((at - (starts[0] ?? 0)) / 1_000));
  };

  test.each(['livenessProbe', 'startupProbe'] as const)(
    'C7: the back-off after a kill by a %s counts only runs that ended before the kill',
    async (kind) => {
      const failing = probe('live', { initialDelaySeconds: 4, failureThreshold: 1 });
      const node = await probedNode([podProbed('web', { [kind]: failing })], { live: 1 });
      await node.advance('100s');
      expect(secondsOfStarts(node)).toEqual([0, 4, 8, 22, 46, 90]);
    },
  );

  test('C7: restarts a container immediately after a long run, without resetting its back-off', async () => {
    const health: Health = { live: 1 };
    const failing = probe('live', { initialDelaySeconds: 4, failureThreshold: 1 });
    const node = await probedNode([podProbed('web', { livenessProbe: failing })], health);
    await node.advance('23s');
    health.live = 0;
    await node.advance('677s');
    health.live = 1;
    await node.advance('100s');
    // The kill after the long run restarts the container at once and doubles the delay to 20 s. The next kill doubles
    // it to 40 s.
    const starts = secondsOfStarts(node);
    const [, , , fourth = 0, fifth = 0, sixth = 0] = starts;
    expect(fourth).toBe(22);
    expect(fifth - fourth).toBeGreaterThan(670);
    expect([44, 45]).toContain(sixth - fifth);
  });

  test('counts a kill as a failure even with exit code 0, unless the restartPolicy is Never', async () => {
    const quiet = { command: ['sh', '-c', 'trap "exit 0" TERM; sleep 1d'], livenessProbe: probe('live') };
    const pods = [
      podProbed('again', quiet, { restartPolicy: 'OnFailure' }),
      podProbed('once', quiet, { restartPolicy: 'Never' }),
    ];
    const node = await probedNode(pods, { live: 1 });
    await node.advance('5s');
    expect(flags(node, 'again').restarts).toBe(2);
    expect(node.pod('again').phase).toBe('Running');
    expect(node.pod('once').phase).toBe('Succeeded');
  });

  test('while it kills the last container of a restartPolicy Never pod, sidecars are still probed and restarted', async () => {
    const command = ['sh', '-c', 'trap "" TERM; sleep 1d'];
    const proxy = containerWith('proxy', { restartPolicy: 'Always', livenessProbe: probe('proxy') });
    const main = { command, livenessProbe: probe('live', { terminationGracePeriodSeconds: 60 }) };
    const health: Health = {};
    const pod = podProbed('web', main, { restartPolicy: 'Never', initContainers: [proxy] });
    const node = await probedNode([pod], health);
    await node.advance('5s');
    health.live = 1;
    await node.advance('5s');
    expect(node.containerView('web').state).toBe('stopping.killing.graceful');
    health.proxy = 1;
    await node.advance('5s');
    health.proxy = 0;
    await node.advance('20s');
    expect(node.containerView('web').state).toBe('stopping.killing.graceful');
    expect(flags(node, 'web', 'proxy')).toEqual({ started: true, ready: true, restarts: 2 });
  });

  test('is unaffected by an error of the probe tool', async () => {
    const node = await probedNode([podProbed('web', { livenessProbe: probe('live') })], {});
    await node.advance('5s');
    const fault = node.runtime.faults.add({ call: 'execSync', times: 1_000, error: { message: 'no shim' } });
    await node.advance('20s');
    expect(flags(node)).toEqual({ started: true, ready: true, restarts: 0 });
    expect(node.containerView('web').children?.[0]?.lastFailure?.message).toMatch(
      /^Liveness probe errored and resulted in unknown state: .*no shim/,
    );
    fault.release();
  });
});

describe('startup', () => {
  test('C4: blocks the other probes, readiness and the next container until it passes', async () => {
    const health: Health = { up: 1 };
    const proxy = containerWith('proxy', {
      restartPolicy: 'Always',
      startupProbe: probe('up', { failureThreshold: 30 }),
      livenessProbe: probe('live'),
    });
    const pod = podWith('web', { initContainers: [proxy, containerWith('setup', { command: ['sleep', '1'] })] });
    const node = await probedNode([pod], health);
    await node.advance('20s');
    expect(flags(node, 'web', 'proxy')).toEqual({ started: false, ready: false, restarts: 0 });
    expect(node.containerView('web', 'proxy')).toMatchObject({
      state: 'running.startingUp',
      waitingFor: 'its startup probe',
      children: [{ name: 'startup', tags: expect.arrayContaining(['unknown']) }],
    });
    expect(node.container('web', 'setup').state).toHaveProperty('waiting');
    expect(condition(node, 'web', 'Initialized')).toBe('False');
    health.up = 0;
    await node.advance('5s');
    expect(flags(node, 'web', 'proxy')).toEqual({ started: true, ready: true, restarts: 0 });
    const [liveness] = node.containerView('web', 'proxy').children ?? [];
    expect(liveness).toMatchObject({ name: 'liveness', tags: expect.arrayContaining(['passing']) });
    expect(condition(node, 'web', 'Ready')).toBe('True');
  });

  test('restarts the container if it fails', async () => {
    const node = await probedNode([podProbed('web', { startupProbe: probe('up') })], { up: 1 });
    await node.advance('4s');
    expect(flags(node)).toMatchObject({ started: false, ready: false });
    expect(node.container('web').restartCount).toBe(1);
  });
});

test('each failed probe attempt is an event, and so is the reason for the kill', async () => {
  const reported: string[] = [];
  const node = await simulatedNode({
    pods: [podProbed('web', { livenessProbe: probe('live') })],
    parts: { events: ({ eventType, reason, message }) => void reported.push(`${eventType} ${reason}: ${message}`) },
  });
  node.runtime.exec = () => ({ exitCode: 1, stdout: 'no life' });
  await node.advance('4s');
  expect(reported.filter((line) => /Unhealthy|Killing/.test(line)).slice(0, 3)).toEqual([
    'Warning Unhealthy: Liveness probe failed: no life',
    'Warning Unhealthy: Liveness probe failed: no life',
    'Normal Killing: Container main failed liveness probe, will be restarted',
  ]);
});

test('the event for a sidecar killed by its probe refers to an init container', async () => {
  const reported: string[] = [];
  const side = containerWith('side', { restartPolicy: 'Always', livenessProbe: probe('live') });
  const node = await simulatedNode({
    pods: [podProbed('web', {}, { initContainers: [side] })],
    parts: { events: ({ reason, message }) => void reported.push(`${reason}: ${message}`) },
  });
  node.runtime.exec = () => ({ exitCode: 1 });
  await node.advance('4s');
  expect(reported.filter((line) => line.startsWith('Killing'))).toEqual([
    'Killing: Init container side failed liveness probe',
  ]);
});

test('a hanging probe does not delay other probes, and is aborted at its own timeout', async () => {
  const hanging = { livenessProbe: probe('slow', { timeoutSeconds: 30, periodSeconds: 60 }) };
  const quick = { readinessProbe: probe('ready', { periodSeconds: 1 }) };
  const health: Health = { slow: 'hangs' };
  const both = podProbed('both', { ...hanging, ...quick });
  const node = await probedNode(
    [both, ...Array.from({ length: 5 }, (_, n) => podProbed(`slow-${n}`, hanging))],
    health,
  );
  await node.advance('3s');
  expect(flags(node, 'both').ready).toBe(true);
  const before = node.runtime.calls.length;
  health.ready = 1;
  await node.advance('3s');
  expect(flags(node, 'both').ready).toBe(false);
  expect(node.runtime.calls.length).toBeGreaterThan(before + 1);
  await node.advance('30s');
  const [failure] = (node.containerView('both').children ?? []).flatMap(({ lastFailure }) => lastFailure ?? []);
  expect(failure?.message).toBe('Liveness probe failed: command timed out: "slow" timed out after 30s');
});

test('a hanging probe does not delay any other probe of its container, its pod or the node by a millisecond', async () => {
  const often = (word: string) => probe(word, { periodSeconds: 1 });
  const slow = { livenessProbe: probe('slow', { timeoutSeconds: 40, periodSeconds: 40 }) };
  const beside = containerWith('beside', { readinessProbe: often('of its pod') });
  const itself = containerWith('main', { ...slow, readinessProbe: often('of its container') });
  const pods = [
    podWith('web', { containers: [itself, beside] }),
    podProbed('other', { readinessProbe: often('of the node') }),
    ...Array.from({ length: 20 }, (_, index) => podProbed(`slow-${index}`, slow)),
  ];
  const node = await simulatedNode({ pods });
  const tries = new Map<string, number[]>();
  node.runtime.exec = ({ cmd: [word = ''] }) => {
    tries.set(word, [...(tries.get(word) ?? []), node.clock.now()]);
    return word === 'slow' ? { afterMs: 3_600_000 } : { exitCode: 0 };
  };
  await node.advance('35s');
  expect(tries.get('slow')).toHaveLength(21);
  for (const word of ['of its container', 'of its pod', 'of the node']) {
    const [first = 0, ...more] = tries.get(word) ?? [];
    expect(more.length).toBeGreaterThan(25);
    expect(more).toEqual(more.map((_, index) => first + (index + 1) * 1_000));
  }
});

describe('an agent restart', () => {
  const pods = [
    podProbed('web', { startupProbe: probe('up'), readinessProbe: probe('ready'), livenessProbe: probe('live') }),
  ];

  test('C29: preserves started and ready, and delays the first probe randomly', async () => {
    const health: Health = {};
    const node = await probedNode(pods, health);
    await node.advance('10s');
    expect(flags(node)).toEqual({ started: true, ready: true, restarts: 0 });
    await node.restartAgent();
    const before = execCount(node);
    await node.advance('500ms');
    expect(flags(node)).toEqual({ started: true, ready: true, restarts: 0 });
    expect(node.containerView('web').children?.map(({ name }) => name)).toEqual(['liveness', 'readiness']);
    expect(execCount(node)).toBe(before);
    await node.advance('2s');
    expect(execCount(node)).toBe(before + 2);
  });

  test('C29: reports a ready container as ready from the first status on', async () => {
    const node = await probedNode(pods, {});
    await node.advance('10s');
    await node.restartAgent();
    const reported: (boolean | undefined)[] = [];
    node.agent.subscribe(({ pod }) => void reported.push(pod.status?.containerStatuses?.[0]?.ready));
    await node.advance('10s');
    expect(new Set(reported.concat(flags(node).ready))).toEqual(new Set([true]));
  });

  test('C29: leaves an unready container unready until its probe passes', async () => {
    const health: Health = { ready: 1 };
    const node = await probedNode(pods, health);
    await node.advance('10s');
    await node.restartAgent();
    await node.advance('500ms');
    expect(flags(node)).toEqual({ started: true, ready: false, restarts: 0 });
    health.ready = 0;
    await node.advance('2s');
    expect(flags(node)).toEqual({ started: true, ready: true, restarts: 0 });
  });

  test('is recorded with its probes, and a fresh agent replays it to the same state', async () => {
    const health: Health = { ready: 1 };
    const node = await probedNode(pods, health);
    await node.advance('7s');
    health.ready = 0;
    await node.advance('5s');
    await node.restartAgent();
    await node.advance('7s');
    health.live = 1;
    await node.advance('9s');
    const { agent, playEntries } = createReplay(node.agent.input, JSON.parse(JSON.stringify(node.entries)));
    expect(await playEntries()).toEqual([]);
    expect(agent.trees()).toEqual(node.agent.trees());
    expect(agent.pods()).toEqual(node.agent.pods());
    expect(flags(node).restarts).toBe(2);
    agent.stop();
  });
});
