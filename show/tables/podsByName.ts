import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { namespacedName } from '../../kubernetes/shownName.ts';

/** Whether `name` refers to the object named `fullName`, with or without the node's name as a suffix. */
export const matchesName = (name: string, fullName: string, node: string): boolean =>
  fullName === name || fullName === `${name}-${node.toLowerCase()}`;

/**
 * Returns the pods that `name` may refer to: pods with this full name, otherwise static pods whose manifest has this
 * name (C24), otherwise the pod with this UID.
 */
export function findPodsByName(name: string, pods: readonly Pod[]): Pod[] {
  const exactMatches = pods.filter(({ metadata }) => metadata.name === name);
  if (exactMatches.length > 0) return exactMatches;
  const manifestMatches = pods.filter(({ metadata, spec }) => metadata.name === `${name}-${spec.nodeName}`);
  return manifestMatches.length > 0 ? manifestMatches : pods.filter(({ metadata }) => metadata.uid === name);
}

/** Returns an error message if several pods match, otherwise undefined. Several pods may share a full name (C24). */
export function ambiguityMessage(matches: readonly Pod[]): string | undefined {
  const distinctNames = new Set(matches.map(namespacedName));
  if (distinctNames.size > 1) return `ambiguous: ${[...distinctNames].join(' and ')}: choose one with -n, --namespace`;
  if (matches.length < 2) return undefined;
  const podDescriptions = matches.map(({ metadata, status }) => {
    const phase = metadata.deletionTimestamp === undefined ? (status?.phase ?? 'Pending') : 'Terminating';
    return `pod/${metadata.uid} (${phase})`;
  });
  return `ambiguous: there are ${matches.length} pods ${[...distinctNames].join()}: choose one by its UID, ${podDescriptions.join(' or ')}`;
}

/** Whether several pods share a full name, in which case only their UIDs distinguish them. */
export const haveDuplicateNames = (pods: readonly Pod[]): boolean =>
  new Set(pods.map(namespacedName)).size < pods.length;
