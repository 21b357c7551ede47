import type { Pod } from '../kubernetes/api/schema/pod.ts';
import { namespacedName } from '../kubernetes/shownName.ts';

/** Whether a user may mean by a name the object of this full name, on this node. */
export const isCalled = (name: string, fullName: string, node: string): boolean =>
  fullName === name || fullName === `${name}-${node.toLowerCase()}`;

/** The pods that a user may mean: those of this full name, else those whose manifest has it (C24), else that of this UID. */
export function podsCalled(name: string, pods: readonly Pod[]): Pod[] {
  const exact = pods.filter(({ metadata }) => metadata.name === name);
  if (exact.length > 0) return exact;
  const written = pods.filter(({ metadata, spec }) => metadata.name === `${name}-${spec.nodeName}`);
  return written.length > 0 ? written : pods.filter(({ metadata }) => metadata.uid === name);
}

/** What to say when several pods are meant; undefined when at most one is. A full name may be that of several (C24). */
export function ambiguity(called: readonly Pod[]): string | undefined {
  const names = new Set(called.map(namespacedName));
  if (names.size > 1) return `ambiguous: ${[...names].join(' and ')}: choose one with -n, --namespace`;
  if (called.length < 2) return undefined;
  const each = called.map(({ metadata, status }) => {
    const phase = metadata.deletionTimestamp === undefined ? (status?.phase ?? 'Pending') : 'Terminating';
    return `pod/${metadata.uid} (${phase})`;
  });
  return `ambiguous: there are ${called.length} pods ${[...names].join()}: choose one by its UID, ${each.join(' or ')}`;
}

/** Whether pods share a full name, so that only their UIDs tell them apart. */
export const haveTwins = (pods: readonly Pod[]): boolean => new Set(pods.map(namespacedName)).size < pods.length;
