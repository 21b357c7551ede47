/**
 * Converts the successive sets of a source's pods to facts. Sends whole sets up to and including the first complete
 * one, and from then on only the changes between sets.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../base/time/clock.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { NodeFact, PodChange, SourceProblem } from '../../machines/shared/events/events.ts';
import type { ManifestSet } from './manifest/manifestSet.ts';

/** Returns a function that converts each set of pods to facts. An unchanged set yields no facts. */
export function createChangeDetector(
  source: string,
  clock: Pick<Clock, 'now'>,
): (set: ManifestSet) => readonly NodeFact[] {
  let previousSet: ManifestSet | undefined;
  return (set) => {
    const oldSet = previousSet;
    previousSet = set;
    const at = clock.now();
    if (oldSet === undefined || oldSet.isPartial) return [{ type: 'config.podsListed', source, ...set, at }];
    return [
      ...podChanges(oldSet.pods, set.pods).map((change) => ({
        type: 'config.podChanged' as const,
        source,
        ...change,
        at,
      })),
      ...findChangedFindings(oldSet, set).map((findings) => ({
        type: 'config.problemsChanged' as const,
        source,
        ...findings,
      })),
    ];
  };
}

/** Returns the changes, removals first, because an added pod may reuse the name of a removed one. */
function podChanges(before: readonly Pod[], after: readonly Pod[]): PodChange[] {
  // Skip the common start and end of both sets, because usually only one of many pods has changed and the order of the
  // others is the same. No pod occurs twice in a set.
  const [prefix, suffix] = [commonPrefix(before, after), commonSuffix(before, after)];
  const removedByUid = byUid(before.slice(prefix, before.length - suffix));
  const podChanges = after.slice(prefix, after.length - suffix).flatMap((pod): PodChange[] => {
    const previousPod = removedByUid.get(pod.metadata.uid);
    removedByUid.delete(pod.metadata.uid);
    if (previousPod === undefined) return [{ change: 'added', pod }];
    return previousPod === pod || isDeepStrictEqual(previousPod, pod) ? [] : [{ change: 'updated', pod }];
  });
  return [...Array.from(removedByUid.keys(), (uid) => ({ change: 'removed' as const, uid })), ...podChanges];
}

/** Returns the number of equal pods at the start of both arrays. */
function commonPrefix(before: readonly Pod[], after: readonly Pod[]): number {
  const index = after.findIndex((pod, position) => pod !== before[position]);
  return index < 0 ? after.length : index;
}

/** Returns the number of equal pods at the end of both arrays. */
function commonSuffix(before: readonly Pod[], after: readonly Pod[]): number {
  const offset = before.length - after.length;
  const index = after.findLastIndex((pod, position) => pod !== before[offset + position]);
  return after.length - 1 - index;
}

const byUid = (pods: readonly Pod[]) => new Map(pods.map((pod) => [pod.metadata.uid, pod]));

type ManifestFindings = Pick<ManifestSet, 'problems' | 'warnings'>;

/** Returns the problems and warnings of each file and pod whose problems or warnings have changed. */
function findChangedFindings(
  before: ManifestFindings,
  after: ManifestFindings,
): (ManifestFindings & Pick<SourceProblem, 'file' | 'pod'>)[] {
  const [problemsBefore, problems] = [groupByKey(before.problems), groupByKey(after.problems)];
  const [warningsBefore, warnings] = [groupByKey(before.warnings), groupByKey(after.warnings)];
  const findingsByKey = new Map(
    [before, after]
      .flatMap((findings) => [...findings.problems, ...findings.warnings])
      .map((each) => [findingKey(each), each]),
  );
  const hasChangedFinding = ([key]: readonly [string, SourceProblem]) =>
    !isDeepStrictEqual([problemsBefore.get(key), warningsBefore.get(key)], [problems.get(key), warnings.get(key)]);
  return [...findingsByKey].filter(hasChangedFinding).map(([key, { file, pod }]) => ({
    file,
    ...(pod === undefined ? {} : { pod }),
    problems: problems.get(key) ?? [],
    warnings: warnings.get(key) ?? [],
  }));
}

/** Returns a key for the file and pod of a problem or warning. */
export const findingKey = ({ file, pod = '' }: Pick<SourceProblem, 'file' | 'pod'>): string => `${file}\n${pod}`;

const groupByKey = (problems: readonly SourceProblem[]) => Map.groupBy(problems, findingKey);
