/**
 * Makes facts of the full sets of one source: the first is told whole, as is each until one is complete, and of each later
 * one only what has changed.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../base/clock.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { NodeFact, PodChange, SourceProblem } from '../../machines/shared/events.ts';
import type { ManifestSet } from './manifest/manifestSet.ts';

/** A function that takes a source's sets one after the other; a set that is as the one before is no fact at all. */
export function changesOf(source: string, clock: Pick<Clock, 'now'>): (set: ManifestSet) => readonly NodeFact[] {
  let delivered: ManifestSet | undefined;
  return (set) => {
    const before = delivered;
    delivered = set;
    const at = clock.now();
    if (before === undefined || before.isPartial) return [{ type: 'config.podsListed', source, ...set, at }];
    return [
      ...podChanges(before.pods, set.pods).map((change) => ({
        type: 'config.podChanged' as const,
        source,
        ...change,
        at,
      })),
      ...changedFindings(before, set).map((found) => ({ type: 'config.problemsChanged' as const, source, ...found })),
    ];
  };
}

/** What has gone comes first: another version of a pod may need its name. */
function podChanges(before: readonly Pod[], now: readonly Pod[]): PodChange[] {
  // Usually one pod of many has changed, and the others keep their places. No pod stands twice in a set.
  const [first, last] = [sameAtStart(before, now), sameAtEnd(before, now)];
  const gone = byUid(before.slice(first, before.length - last));
  const changes = now.slice(first, now.length - last).flatMap((pod): PodChange[] => {
    const known = gone.get(pod.metadata.uid);
    gone.delete(pod.metadata.uid);
    if (known === undefined) return [{ change: 'added', pod }];
    return known === pod || isDeepStrictEqual(known, pod) ? [] : [{ change: 'updated', pod }];
  });
  return [...Array.from(gone.keys(), (uid) => ({ change: 'removed' as const, uid })), ...changes];
}

/** How many pods at the start are the same in both. */
function sameAtStart(some: readonly Pod[], others: readonly Pod[]): number {
  const index = others.findIndex((pod, at) => pod !== some[at]);
  return index < 0 ? others.length : index;
}

/** How many at the end. */
function sameAtEnd(some: readonly Pod[], others: readonly Pod[]): number {
  const index = others.findLastIndex((pod, at) => pod !== some[some.length - others.length + at]);
  return others.length - 1 - index;
}

const byUid = (pods: readonly Pod[]) => new Map(pods.map((pod) => [pod.metadata.uid, pod]));

type Findings = Pick<ManifestSet, 'problems' | 'warnings'>;

/** The pods of each file of which there is something else to say than before, with all of it: a URL is one file of many pods. */
function changedFindings(before: Findings, now: Findings): (Findings & Pick<SourceProblem, 'file' | 'pod'>)[] {
  const [wrongBefore, wrong] = [byPlace(before.problems), byPlace(now.problems)];
  const [oddBefore, odd] = [byPlace(before.warnings), byPlace(now.warnings)];
  const places = new Map(
    [before, now].flatMap(({ problems, warnings }) => [...problems, ...warnings]).map((each) => [placeOf(each), each]),
  );
  const isChanged = ([place]: readonly [string, SourceProblem]) =>
    !isDeepStrictEqual([wrongBefore.get(place), oddBefore.get(place)], [wrong.get(place), odd.get(place)]);
  return [...places].filter(isChanged).map(([place, { file, pod }]) => ({
    file,
    ...(pod === undefined ? {} : { pod }),
    problems: wrong.get(place) ?? [],
    warnings: odd.get(place) ?? [],
  }));
}

/** Where something was found: in which file, of which pod. */
export const placeOf = ({ file, pod = '' }: Pick<SourceProblem, 'file' | 'pod'>): string => `${file}\n${pod}`;

const byPlace = (problems: readonly SourceProblem[]) => Map.groupBy(problems, placeOf);
