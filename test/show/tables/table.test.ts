import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type {
  ContainerState,
  ContainerStatus,
  PodCondition,
  PodStatus,
} from '../../../kubernetes/api/schema/status.ts';
import { podRow, podTable } from '../../../show/tables/table.ts';
import { NOW } from '../../kubernetes/views.ts';

const container = (state: ContainerState, more: Partial<ContainerStatus> = {}): ContainerStatus => ({
  name: 'a',
  image: 'a',
  imageID: '',
  ready: false,
  restartCount: 0,
  state,
  lastState: {},
  ...more,
});
const waits = (reason: string, more?: Partial<ContainerStatus>) => container({ waiting: { reason } }, more);
const ended = (exitCode: number, reason?: string, more: { signal?: number } = {}) =>
  container({ terminated: { exitCode, ...(reason ? { reason } : {}), ...more } });
const runs = (more: Partial<ContainerStatus> = {}) => container({ running: {} }, { ready: true, ...more });
const restarted = (restartCount: number, secondsAgo: number): Partial<ContainerStatus> => {
  const finishedAt = new Date(NOW - secondsAgo * 1000).toISOString();
  return { restartCount, lastState: { terminated: { exitCode: 1, finishedAt } } };
};
const True = (type: string): PodCondition => ({ type, status: 'True' });

interface Parts {
  readonly init?: readonly ContainerStatus[];
  readonly sidecars?: readonly ContainerStatus[];
  readonly main?: readonly ContainerStatus[];
  readonly status?: PodStatus;
  readonly spec?: Partial<Pod['spec']>;
  readonly meta?: Partial<Pod['metadata']>;
}

function pod({ init = [], sidecars = [], main = [], status, spec, meta }: Parts): Pod {
  const named = (list: readonly ContainerStatus[], kind: string) => list.map((s, i) => ({ ...s, name: `${kind}${i}` }));
  const [inits, sides, mains] = [named(init, 'i'), named(sidecars, 's'), named(main, 'm')];
  const image = ({ name }: ContainerStatus) => ({ name, image: name });
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'default', uid: 'u', ...meta },
    spec: {
      initContainers: [...inits.map(image), ...sides.map((s) => ({ ...image(s), restartPolicy: 'Always' as const }))],
      containers: mains.map(image),
      ...spec,
    },
    status: { phase: 'Pending', initContainerStatuses: [...inits, ...sides], containerStatuses: mains, ...status },
  };
}

const deleted = { deletionTimestamp: '2026-05-04T12:02:00Z' };
const inInit = { main: [waits('PodInitializing')] };

describe('the column STATUS', () => {
  test.each<[status: string, ready: string, parts: Parts]>([
    ['Pending', '0/1', { main: [container({})] }],
    ['ContainerCreating', '0/1', { main: [waits('ContainerCreating')] }],
    ['ImagePullBackOff', '0/2', { main: [waits('ImagePullBackOff'), waits('ContainerCreating')] }],
    ['Running', '1/1', { main: [runs()], status: { phase: 'Running' } }],
    ['Running', '0/1', { main: [runs({ ready: false })], status: { phase: 'Running' } }],
    ['CrashLoopBackOff', '1/2', { main: [runs(), waits('CrashLoopBackOff')], status: { phase: 'Running' } }],
    ['Error', '1/2', { main: [runs(), ended(1, 'Error')], status: { phase: 'Running' } }],
    ['OOMKilled', '0/1', { main: [ended(137, 'OOMKilled')], status: { phase: 'Running' } }],
    ['ExitCode:3', '0/1', { main: [ended(3)] }],
    ['Signal:9', '0/1', { main: [ended(137, undefined, { signal: 9 })] }],
    ['Completed', '0/1', { main: [ended(0, 'Completed')], status: { phase: 'Succeeded' } }],
    [
      'Running',
      '1/2',
      { main: [ended(0, 'Completed'), runs()], status: { phase: 'Running', conditions: [True('Ready')] } },
    ],
    ['NotReady', '1/2', { main: [ended(0, 'Completed'), runs()], status: { phase: 'Running' } }],
    ['Error', '0/2', { main: [ended(1, 'Error'), ended(0, 'Completed')], status: { phase: 'Failed' } }],
    ['Evicted', '0/0', { status: { phase: 'Failed', reason: 'Evicted' } }],
    [
      'SchedulingGated',
      '0/1',
      {
        main: [container({})],
        status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] },
      },
    ],
    ['Init:0/2', '0/1', { init: [runs(), waits('PodInitializing')], ...inInit }],
    ['Init:0/1', '0/1', { init: [waits('PodInitializing')], ...inInit }],
    ['Init:1/2', '0/1', { init: [ended(0, 'Completed'), runs()], ...inInit }],
    ['Init:CrashLoopBackOff', '0/1', { init: [waits('CrashLoopBackOff')], ...inInit }],
    ['Init:Error', '0/1', { init: [ended(1, 'Error')], ...inInit }],
    ['Init:ExitCode:2', '0/1', { init: [ended(2)], ...inInit }],
    ['Init:Signal:15', '0/1', { init: [ended(143, undefined, { signal: 15 })], ...inInit }],
    ['PodInitializing', '0/1', { init: [ended(0, 'Completed')], ...inInit }],
    ['Init:0/1', '0/2', { sidecars: [runs({ started: false, ready: false })], ...inInit }],
    ['PodInitializing', '1/2', { sidecars: [runs({ started: true })], ...inInit }],
    ['Running', '2/2', { sidecars: [runs({ started: true })], main: [runs()], status: { phase: 'Running' } }],
    [
      'Running',
      '1/2',
      { sidecars: [runs({ started: true, ready: false })], main: [runs()], status: { phase: 'Running' } },
    ],
    [
      'Error',
      '0/2',
      {
        sidecars: [waits('CrashLoopBackOff')],
        main: [ended(1, 'Error')],
        status: { conditions: [True('Initialized')] },
      },
    ],
    ['Init:ErrImagePull', '0/1', { init: [waits('ErrImagePull')], ...inInit }],
    ['Init:1/2', '1/3', { sidecars: [runs({ started: true }), runs({ started: false, ready: false })], ...inInit }],
    ['Init:Error', '0/2', { sidecars: [ended(1, 'Error')], ...inInit }],
    [
      'Init:CrashLoopBackOff',
      '1/2',
      {
        sidecars: [waits('CrashLoopBackOff')],
        main: [runs()],
        status: { phase: 'Running', conditions: [True('Initialized')] },
      },
    ],
    [
      'Completed',
      '0/2',
      { sidecars: [ended(0, 'Completed')], main: [ended(0, 'Completed')], status: { phase: 'Succeeded' } },
    ],
    [
      'Completed',
      '1/2',
      {
        sidecars: [runs({ started: true })],
        main: [ended(0, 'Completed')],
        status: { phase: 'Running', conditions: [True('Initialized')] },
      },
    ],
    ['RunContainerError', '0/1', { main: [waits('RunContainerError')] }],
    ['PostStartHookError', '0/1', { main: [waits('PostStartHookError')], status: { phase: 'Running' } }],
    ['StartError', '0/1', { main: [ended(128, 'StartError')], status: { phase: 'Failed' } }],
    ['ContainerStatusUnknown', '0/1', { main: [ended(137, 'ContainerStatusUnknown')], status: { phase: 'Failed' } }],
    ['Error', '0/1', { main: [ended(137, 'Error')], status: { phase: 'Failed', reason: 'DeadlineExceeded' } }],
    [
      'OutOfcpu',
      '0/1',
      { status: { phase: 'Failed', reason: 'OutOfcpu' }, spec: { containers: [{ name: 'a', image: 'a' }] } },
    ],
    ['Terminating', '0/1', { init: [runs()], ...inInit, meta: deleted }],
    ['Terminating', '1/1', { main: [runs()], meta: deleted, status: { phase: 'Running' } }],
    ['Completed', '0/1', { main: [ended(0, 'Completed')], meta: deleted, status: { phase: 'Succeeded' } }],
    ['Unknown', '1/1', { main: [runs()], meta: deleted, status: { phase: 'Running', reason: 'NodeLost' } }],
  ])('is %s with %s containers ready', (status, ready, parts) => {
    expect(podRow(pod(parts), NOW)).toMatchObject({ status, ready });
  });
});

describe('the column RESTARTS', () => {
  test.each<[restarts: string, parts: Parts]>([
    ['0', { main: [runs()] }],
    ['3 (2m ago)', { main: [runs(restarted(3, 120))] }],
    ['3 (20s ago)', { main: [runs(restarted(1, 90)), runs(restarted(2, 20))] }],
    ['2', { main: [runs({ restartCount: 2 })] }],
    ['4 (30s ago)', { init: [waits('CrashLoopBackOff', restarted(4, 30))], ...inInit }],
    ['1 (60s ago)', { init: [{ ...ended(0, 'Completed'), ...restarted(4, 30) }], main: [runs(restarted(1, 60))] }],
    ['3 (10s ago)', { sidecars: [runs({ started: true, ...restarted(2, 10) })], main: [runs(restarted(1, 60))] }],
  ])('%s', (restarts, parts) => expect(podRow(pod(parts), NOW).restarts).toBe(restarts));
});

describe('the column AGE', () => {
  test('counts from the creation', () =>
    expect(podRow(pod({ meta: { creationTimestamp: '2026-05-04T11:59:36Z' } }), NOW).age).toBe('3m20s'));
  test('of a static pod counts from its start', () =>
    expect(podRow(pod({ status: { startTime: '2026-05-04T12:02:11Z' } }), NOW).age).toBe('45s'));
  test('is unknown without either', () => expect(podRow(pod({}), NOW).age).toBe('<unknown>'));
});

describe('the table', () => {
  const bare = pod({ main: [runs()], status: { phase: 'Running' } });

  test('has the columns of kubectl', () => {
    expect(podTable([bare], { wide: false, now: NOW })).toEqual([
      ['NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE'],
      ['web', '1/1', 'Running', '0', '<unknown>'],
    ]);
  });

  test('has four more columns if it is wide, with <none> for missing values', () => {
    const [header, row] = podTable([bare], { wide: true, now: NOW });
    expect(header?.slice(5)).toEqual(['IP', 'NODE', 'NOMINATED NODE', 'READINESS GATES']);
    expect(row?.slice(5)).toEqual(['<none>', '<none>', '<none>', '<none>']);
  });

  test('shows addresses, node and met gates', () => {
    const spec = { nodeName: 'n1', readinessGates: [{ conditionType: 'x/a' }, { conditionType: 'x/b' }] };
    const status: PodStatus = {
      podIPs: [{ ip: '10.88.0.5' }, { ip: 'fd00::5' }],
      nominatedNodeName: 'n2',
      conditions: [True('x/a'), { type: 'x/b', status: 'False' }],
    };
    const [, row] = podTable([pod({ spec, status })], { wide: true, now: NOW });
    expect(row?.slice(5)).toEqual(['10.88.0.5', 'n1', 'n2', '1/2']);
  });
});
