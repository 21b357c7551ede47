import { expect, test } from '@jest/globals';
import type { Container } from '../../../../../kubernetes/api/schema/container.ts';
import type { Hooks, Watched } from '../../../../../testing/simulation/invariants/invariant.ts';
import { freedResources } from '../../../../../testing/simulation/invariants/resources/freedResources.ts';
import { podWith } from '../../../../fakes/pods.ts';

const CAPACITY = {
  cpuMillis: 2_000,
  memoryBytes: 2 ** 30,
  pods: 10,
  extra: { 'ephemeral-storage': 2 ** 30, 'hugepages-2Mi': 2 ** 22 },
};

const HALF_MORE_THAN_A_CORE: Partial<Container> = { resources: { requests: { cpu: '1500m' } } };

/** Creates a node with two cores. Each pod has one container, which requests one and a half cores by default. */
function watching(requested = HALF_MORE_THAN_A_CORE) {
  const broken: string[] = [];
  const running = new Set<string>();
  const unpublished = new Set<string>();
  const host = { running: () => [...running].map((podUid) => ({ podUid })) };
  const agent = { unpublishedUids: () => [...unpublished] };
  const watched = { host, agent, capacity: CAPACITY } as unknown as Watched;
  const following: Hooks = freedResources.follow(watched, (message) => void broken.push(message));
  const show = (name: string, status: object, tree: { termination?: object; container?: string } = {}) => {
    const { termination, container = 'done' } = tree;
    const containers = [{ name: 'main', image: 'a:1', ...requested }];
    const children = [{ machine: 'container', tags: [container] }];
    // The invariant reads nothing else of a change.
    const change = { uid: `${name}-uid`, pod: { ...podWith(name, { containers }), status }, removed: false };
    following.onStatus?.({ ...change, tree: { children, ...(termination ? { termination } : {}) } } as never);
  };
  const refuse = (name: string, reason = 'OutOfcpu') =>
    show(name, { phase: 'Failed', reason, message: 'Pod was rejected: Node did not have enough' });
  const violations = () => {
    following.afterStep?.();
    return broken.splice(0);
  };
  const report = (name: string, isStatic: boolean) =>
    following.onReport?.({
      uid: `${name}-uid`,
      namespace: 'default',
      name,
      status: { phase: 'Failed', reason: 'OutOfcpu', message: 'Pod was rejected: Node did not have enough' },
      ended: true,
      isStatic,
    });
  return { show, refuse, report, running, unpublished, restart: () => following.onAgentStarted?.(), violations };
}

const ends = { reason: 'Deleted', at: 0, graceSeconds: 30 };

test('a rejection for resources that only a stopped or completed pod holds is reported once', () => {
  const { show, refuse, violations } = watching();
  show('old', { phase: 'Running' }, { termination: ends, container: 'rests' });
  show('job', { phase: 'Succeeded' });
  refuse('new');
  refuse('new');
  expect(violations()).toEqual([expect.stringContaining('default/new: rejected although only terminated pods hold')]);
});

test('a rejection for resources of a running or stopping pod is no violation', () => {
  const { show, refuse, violations } = watching();
  show('web', { phase: 'Running' });
  refuse('new');
  show('web', { phase: 'Running' }, { termination: ends, container: 'stopping' });
  refuse('other');
  expect(violations()).toEqual([]);
});

test('a rejection is not judged while running pods have not been reported', () => {
  const { refuse, running, restart, violations } = watching();
  running.add('unreported');
  refuse('new');
  expect(violations()).toEqual([]);
  running.clear();
  restart();
  refuse('new');
  expect(violations()).toHaveLength(1);
});

test('a rejection is judged once the pods that were admitted before it are published', () => {
  const { show, refuse, unpublished, violations } = watching();
  unpublished.add('older-uid');
  refuse('new');
  expect(violations()).toEqual([]);
  unpublished.clear();
  show('older', { phase: 'Pending' });
  expect(violations()).toEqual([]);
  show('older', { phase: 'Succeeded' });
  unpublished.add('job-uid');
  refuse('other');
  expect(violations()).toEqual([]);
  unpublished.clear();
  show('job', { phase: 'Succeeded' });
  expect(violations()).toEqual([expect.stringContaining('default/other: rejected although')]);
});

test('a later agent decides again on a rejected pod, unless the API server knows the rejection', () => {
  const { show, refuse, report, restart, violations } = watching();
  show('web', { phase: 'Running' });
  for (const [name, isStatic] of Object.entries({ static: true, api: false })) {
    refuse(name);
    report(name, isStatic);
  }
  restart();
  refuse('static');
  refuse('api');
  expect(violations()).toEqual([expect.stringContaining('default/static: rejected although')]);
});

test.each<[string, Partial<Container>]>([
  ['OutOfephemeral-storage', { resources: { requests: { 'ephemeral-storage': '600Mi' } } }],
  ['OutOfhugepages-2Mi', { resources: { requests: { 'hugepages-2Mi': '4Mi' } } }],
  ['NodePorts', { ports: [{ containerPort: 80, hostPort: 8080 }] }],
])('a rejection with %s is judged by the usage of that resource by other pods', (reason, requested) => {
  const { show, refuse, violations } = watching(requested);
  show('web', { phase: 'Running' });
  refuse('new', reason);
  expect(violations()).toEqual([]);
  show('web', { phase: 'Succeeded' });
  refuse('other', reason);
  expect(violations()).toEqual([expect.stringContaining('default/other: rejected although')]);
});
