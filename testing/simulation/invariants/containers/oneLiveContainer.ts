import type { SimulatedContainer } from '../../../../cri/simulated/objects/views.ts';
import { fullName } from '../../host/host.ts';
import type { Invariant } from '../invariant.ts';

/** Returns the names that several items share, with the number of these items. */
function duplicates<T>(all: readonly T[], nameOf: (each: T) => string): string[] {
  const counts = new Map<string, number>();
  for (const each of all) counts.set(nameOf(each), (counts.get(nameOf(each)) ?? 0) + 1);
  return [...counts].flatMap(([name, count]) => (count > 1 ? [`${name} (${count})`] : []));
}

/** Returns the full pod names under which containers of several pods run. */
function rivals(running: readonly SimulatedContainer[]): string[] {
  const uids = new Map<string, Set<string>>();
  for (const each of running) uids.set(fullName(each), (uids.get(fullName(each)) ?? new Set()).add(each.podUid));
  return [...uids].flatMap(([pod, each]) => (each.size > 1 ? [`${pod} (${[...each].join(', ')})`] : []));
}

export const oneLiveContainer: Invariant = {
  number: 1,
  description:
    'No container of a pod has two running containers in the runtime, and no two pods with the same full name run, ' +
    'except for pods of an API server.',
  follow: ({ host, cluster }, violated) => {
    const check = (all: readonly SimulatedContainer[]) => {
      // The agent cannot know a container that the runtime temporarily forgot or did not list.
      const running = all.filter(({ id }) => !host.runtimeFaults.wasHidden(id));
      for (const name of duplicates(running, (each) => `${fullName(each)} ${each.podUid} ${each.containerName}`)) {
        violated(`more than one live container: ${name}`);
      }
      const own = running.filter(({ podUid }) => !cluster?.hasHadPod(podUid));
      for (const pod of rivals(own)) violated(`two pods with the same full name run: ${pod}`);
    };
    return {
      onEffect: ({ kind, container }) => {
        if (kind !== 'started' || container === undefined) return;
        const { namespace, podName } = container;
        check(host.running((each) => each.podName === podName && each.namespace === namespace));
      },
      // The runtime emits no `started` effect for a container that it forgot and recalled.
      whole: () => check(host.running()),
    };
  },
};
