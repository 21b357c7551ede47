import { describe, expect, test } from '@jest/globals';
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import type { PodStatus } from '../../../kubernetes/api/schema/status.ts';
import { isSamePodStatus, podStatus } from '../../../kubernetes/status/status.ts';
import type { PodView } from '../../../kubernetes/status/view.ts';
import { ending, exited, NOW, podView, running, type ShownPod, sandbox, waiting } from '../views.ts';

const HOST = ['192.0.2.7', 'fd00::7', '192.0.2.8'];
const status = (view: PodView, previous?: PodStatus, hostIps: readonly string[] = HOST) =>
  podStatus(view, { now: NOW, hostIps, runtimeName: 'containerd', ...(previous ? { previous } : {}) });

const healthy = (more: Partial<ShownPod> = {}) =>
  podView({ main: { a: running() }, view: { sandbox: sandbox('10.88.0.5'), ...more } });

describe('the status of a pod', () => {
  test('is complete', () => {
    const { conditions, containerStatuses, ...rest } = status(healthy());
    expect(rest).toEqual({
      phase: 'Running',
      hostIP: '192.0.2.7',
      hostIPs: [{ ip: '192.0.2.7' }, { ip: 'fd00::7' }],
      podIP: '10.88.0.5',
      podIPs: [{ ip: '10.88.0.5' }],
      startTime: '2026-05-04T12:02:56Z',
      qosClass: 'BestEffort',
      resources: {},
    });
    expect([conditions?.length, containerStatuses?.length]).toEqual([5, 1]);
  });

  test('has the generation of the pod, unless another one is passed', () => {
    const view = podView({ main: { a: running() }, meta: { generation: 4 } });
    expect(status(view).observedGeneration).toBe(4);
    const given = podStatus(view, { now: NOW, hostIps: [], runtimeName: 'x', observedGeneration: 3 });
    expect(given.observedGeneration).toBe(3);
  });

  test('retains its start time and QoS class', () => {
    const previous: PodStatus = { startTime: '2026-05-01T00:00:00Z', qosClass: 'Burstable' };
    expect(status(healthy(), previous)).toMatchObject(previous);
  });

  test('has no start time until the node starts the pod, then the time of its oldest sandbox', () => {
    const { startedAt: _, ...awaited } = healthy();
    const first = status(awaited);
    expect(first).not.toHaveProperty('startTime');
    expect(status(healthy({ startedAt: NOW - 47_000 }), first).startTime).toBe('2026-05-04T12:02:09Z');
  });

  test('has no QoS class until the node admits the pod, unless it already has one', () => {
    for (const tag of ['awaitingNode', 'ofOthers', 'admitting']) {
      const view = podView({ main: {}, view: { tags: [tag] } });
      expect(status(view)).not.toHaveProperty('qosClass');
      expect(status(view, { qosClass: 'Burstable' })).toMatchObject({ qosClass: 'Burstable' });
    }
  });
});

describe("C15: the resources in a pod's status", () => {
  const sized = (requests: Record<string, string>, limits?: Record<string, string>): Pick<Container, 'resources'> => ({
    resources: { requests, ...(limits ? { limits } : {}) },
  });
  const container = (name: string, more: Partial<Container> = {}): Container => ({ name, image: 'i:1', ...more });
  const resourcesOf = (spec: Partial<PodSpec>, view: Partial<ShownPod> = {}) => {
    const { allocatedResources, resources } = status(podView({ main: { a: running() }, spec, view }));
    return { allocatedResources, resources };
  };

  test('are always present, empty without requests', () => {
    expect(status(healthy()).resources).toEqual({});
    expect(status(healthy())).not.toHaveProperty('allocatedResources');
  });

  test('are the sums over the containers plus the overhead, in the format of the first amount', () => {
    const sidecar = container('s', { restartPolicy: 'Always', ...sized({ cpu: '0.1' }, { cpu: '1' }) });
    const spec = {
      initContainers: [container('i', sized({ cpu: '50m', memory: '1Gi' })), sidecar],
      containers: [container('a', sized({ cpu: '0.5', memory: '32Mi' })), container('b', sized({ memory: '96Mi' }))],
      overhead: { cpu: '10m', memory: '1000000' },
    };
    const requests = { cpu: '610m', memory: '1074741824' };
    expect(resourcesOf(spec)).toEqual({
      allocatedResources: requests,
      resources: { requests, limits: { cpu: '1010m' } },
    });
    const { overhead: _, ...without } = spec;
    expect(resourcesOf(without).allocatedResources).toEqual({ cpu: '600m', memory: '1Gi' });
  });

  test('are the pod-level ones if there are any', () => {
    const own = { requests: { cpu: '2000m' }, limits: { cpu: '3' } };
    const containers = [container('a', sized({ cpu: '1', memory: '64Mi', 'example.com/gpu': '1' }))];
    const requests = { cpu: '2', 'example.com/gpu': '1', memory: '64Mi' };
    expect(resourcesOf({ containers, resources: own }).resources).toEqual({ requests, limits: { cpu: '3' } });
  });

  test('are both the admitted ones and those of the cgroup during a resize', () => {
    const of = (cpu: string) => ({ containers: [container('a', sized({ cpu }, { cpu }))] });
    const [one, two] = [{ cpu: '1' }, { cpu: '2' }];
    expect(resourcesOf(of('2'), { appliedSpec: of('1') })).toEqual({
      allocatedResources: two,
      resources: { requests: one, limits: one },
    });
    expect(resourcesOf(of('2'), { appliedSpec: of('1'), hasEnded: true }).resources).toEqual({
      requests: two,
      limits: two,
    });
  });

  test('handle resources with names that every object inherits', () => {
    const containers = [container('a', sized({ constructor: '1' })), container('b', sized({ cpu: '1' }))];
    expect(resourcesOf({ containers }).allocatedResources).toEqual({ constructor: '1', cpu: '1' });
  });

  test('are missing for a rejected pod', () => {
    const refused = { refusal: { reason: 'OutOfcpu', message: '' }, hasEnded: true } as const;
    for (const view of [podView({ main: { a: null }, view: refused }), healthy(refused)]) {
      expect(status(view)).not.toHaveProperty('resources');
      expect(status(view)).not.toHaveProperty('allocatedResources');
    }
  });
});

test('C2: the terminal status from before a restart of the agent is reported unchanged', () => {
  const restoredStatus: PodStatus = { phase: 'Succeeded', reason: 'Told' };
  expect(status(podView({ main: { a: null }, view: { restoredStatus, ...ending() } }))).toBe(restoredStatus);
});

describe("C27: the addresses in a pod's status", () => {
  const ips = (view: PodView, previous?: PodStatus, hostIps?: readonly string[]) =>
    status(view, previous, hostIps).podIPs?.map(({ ip }) => ip);
  const host = (view: Partial<ShownPod> = {}) => podView({ main: { a: running() }, spec: { hostNetwork: true }, view });
  const had = (...list: string[]): PodStatus => ({ podIPs: list.map((ip) => ({ ip })) });

  test('include at most one per family', () => {
    expect(ips(healthy({ sandbox: sandbox('10.88.0.5', '10.88.0.6', 'fd00::5', 'fd00::6') }))).toEqual([
      '10.88.0.5',
      'fd00::5',
    ]);
  });

  test("start with the family of the node's primary address", () => {
    const dual = healthy({ sandbox: sandbox('10.88.0.5', 'FD00:0:0::5') });
    expect(ips(dual, undefined, ['FD01:0::1', '192.0.2.7'])).toEqual(['fd00::5', '10.88.0.5']);
    expect(status(dual, undefined, ['fd01::1'])).toMatchObject({ podIP: 'fd00::5' });
    expect(ips(healthy({ sandbox: sandbox('fd00::5', '10.88.0.5') }))).toEqual(['10.88.0.5', 'fd00::5']);
  });

  test('are missing before there is a sandbox', () => {
    expect(status(podView({ main: { a: waiting() } }))).not.toHaveProperty('podIP');
  });

  test('remain after the sandbox is removed', () => {
    const gone = { ...sandbox(), state: 'notReady' as const };
    expect(ips(healthy({ sandbox: gone }), had('10.88.0.5'))).toEqual(['10.88.0.5']);
  });

  test('are those of a new sandbox', () => {
    expect(ips(healthy({ sandbox: sandbox('10.88.0.9') }), had('10.88.0.5'))).toEqual(['10.88.0.9']);
  });

  test('are those of the host on the host network', () => {
    expect(ips(host())).toEqual(['192.0.2.7', 'fd00::7']);
  });

  test('on the host network remain, and one of another family is added', () => {
    expect(ips(host(), had('192.0.2.1'))).toEqual(['192.0.2.1', 'fd00::7']);
  });

  test('on the host network exclude a second one of the same family', () => {
    expect(ips(host(), undefined, ['192.0.2.7', '192.0.2.8'])).toEqual(['192.0.2.7']);
  });
});

describe("the reason in a pod's status", () => {
  const reason = ({ phase, reason: why, message }: PodStatus) => [phase, why, message];

  test('is that of the rejection', () => {
    const refused = {
      refusal: { reason: 'OutOfcpu', message: "Node didn't have enough resource: cpu" },
      hasEnded: true,
    } as const;
    expect(reason(status(podView({ main: { a: null }, view: refused })))).toEqual([
      'Failed',
      'OutOfcpu',
      "Pod was rejected: Node didn't have enough resource: cpu",
    ]);
  });

  test('is reported alone for a rejected pod, apart from conditions of other components', () => {
    const refused = { refusal: { reason: 'OutOfcpu', message: 'no cpu left' }, hasEnded: true } as const;
    const view = podView({ init: { i: null }, main: { a: null }, view: refused });
    const first = status(podView({ init: { i: null }, main: { a: null } }));
    expect(status(view, first)).toEqual({
      phase: 'Failed',
      reason: 'OutOfcpu',
      message: 'Pod was rejected: no cpu left',
      startTime: '2026-05-04T12:02:56Z',
      qosClass: 'BestEffort',
    });
    const [scheduled, approved] = ['PodScheduled', 'example.com/approved'].map((type) => ({
      type,
      status: 'True' as const,
    }));
    const conditions = [scheduled, approved].filter((each) => each !== undefined);
    expect(status({ ...view, conditions }).conditions).toEqual([approved]);
    expect(status({ ...view, conditions: conditions.slice(0, 1) })).not.toHaveProperty('conditions');
  });

  const evicted = ending({ reason: 'Evicted', message: 'The node was low on resource: memory.', phase: 'Failed' });

  test('is the eviction once the pod has terminated', () => {
    expect(reason(status(podView({ main: { a: exited(137) }, view: { ...evicted, hasEnded: true } })))).toEqual([
      'Failed',
      'Evicted',
      'The node was low on resource: memory.',
    ]);
  });

  test('C2: is not set while the pod is being evicted', () => {
    expect(reason(status(podView({ main: { a: running() }, view: evicted }), { phase: 'Running' }))).toEqual([
      'Running',
      undefined,
      undefined,
    ]);
  });

  test('C2: remains with the phase', () => {
    const previous: PodStatus = { phase: 'Failed', reason: 'Evicted', message: 'low' };
    expect(reason(status(podView({ main: { a: exited(0) } }), previous))).toEqual(['Failed', 'Evicted', 'low']);
  });

  test('is not set for a removed pod, whose exits determine the phase', () => {
    const view = podView({ main: { a: exited(0) }, view: { ...ending(), hasEnded: true } });
    expect(reason(status(view, { phase: 'Running' }))).toEqual(['Succeeded', undefined, undefined]);
  });
});

describe('samePodStatus', () => {
  const one = () => status(healthy());

  test('accepts equal statuses that were computed separately', () => {
    expect(isSamePodStatus(one(), one())).toBe(true);
  });

  test('ignores the order of keys and undefined values', () => {
    const { phase, ...rest } = one();
    // The result of `JSON.parse` can contain values that the type excludes, such as undefined.
    const other = { ...rest, reason: undefined, phase } as unknown as PodStatus;
    expect(isSamePodStatus(one(), other)).toBe(true);
    expect(isSamePodStatus(other, one())).toBe(true);
  });

  test.each<[string, (s: PodStatus) => PodStatus]>([
    ['a phase', (s) => ({ ...s, phase: 'Failed' })],
    ['a key that came', (s) => ({ ...s, reason: 'Evicted' })],
    ['a key that went', ({ podIP: _podIP, ...s }) => s],
    ['a condition less', (s) => ({ ...s, conditions: (s.conditions ?? []).slice(1) })],
    [
      'a deep word',
      (s) => ({ ...s, containerStatuses: (s.containerStatuses ?? []).map((c) => ({ ...c, ready: false })) }),
    ],
    ['a list for an object', (s) => ({ ...s, podIPs: {} as unknown as [] })], // what JSON might hold
  ])('detects a difference: %s', (_what, change) => {
    expect(isSamePodStatus(one(), change(one()))).toBe(false);
    expect(isSamePodStatus(change(one()), one())).toBe(false);
  });

  test('treats a first status as a change', () => {
    expect(isSamePodStatus(undefined, one())).toBe(false);
    expect(isSamePodStatus(undefined, undefined)).toBe(true);
  });
});
