/** Makes facts of the full sets of one source: the first is told whole, and of each later one only what has changed. */
import { isDeepStrictEqual } from 'node:util';
import type { NodeFact, PodChange, SourceProblem } from '../../machines/shared/events.ts';
import type { Pod } from '../../pod/api/schema/pod.ts';
import type { Clock } from '../clock.ts';
import type { ManifestSet } from './manifestSet.ts';

/** A function that takes a source's sets one after the other; a set that is as the one before is no fact at all. */
export function changesOf(source: string, clock: Pick<Clock, 'now'>): (set: ManifestSet) => readonly NodeFact[] {
  let delivered: ManifestSet | undefined;
  return (set) => {
    const before = delivered;
    delivered = set;
    const at = clock.now();
    if (before === undefined) return [{ type: 'config.podsListed', source, ...set, at }];
    return [
      ...podChanges(before.pods, set.pods).map((change) => ({
        type: 'config.podChanged' as const,
        source,
        ...change,
        at,
      })),
      ...changedFiles(before, set).map(({ file, problems, warnings }) => ({
        type: 'config.problemsChanged' as const,
        ...{ source, file, problems, warnings },
      })),
    ];
  };
}

/** What has gone comes first: another version of a pod may need its name. */
function podChanges(before: readonly Pod[], now: readonly Pod[]): PodChange[] {
  const gone = byUid(before);
  const changes = now.flatMap((pod): PodChange[] => {
    const known = gone.get(pod.metadata.uid);
    gone.delete(pod.metadata.uid);
    if (known === undefined) return [{ change: 'added', pod }];
    return isDeepStrictEqual(known, pod) ? [] : [{ change: 'updated', pod }];
  });
  return [...Array.from(gone.keys(), (uid) => ({ change: 'removed' as const, uid })), ...changes];
}

const byUid = (pods: readonly Pod[]) => new Map(pods.map((pod) => [pod.metadata.uid, pod]));

type Findings = Pick<ManifestSet, 'problems' | 'warnings'>;

/** The files of which there is something else to say than before, with all of it. */
function changedFiles(before: Findings, now: Findings): (Findings & { readonly file: string })[] {
  const [wrongBefore, wrong] = [byFile(before.problems), byFile(now.problems)];
  const [oddBefore, odd] = [byFile(before.warnings), byFile(now.warnings)];
  const files = new Set([wrongBefore, wrong, oddBefore, odd].flatMap((each) => [...each.keys()]));
  const isChanged = (file: string) =>
    !isDeepStrictEqual([wrongBefore.get(file), oddBefore.get(file)], [wrong.get(file), odd.get(file)]);
  return [...files]
    .filter(isChanged)
    .map((file) => ({ file, problems: wrong.get(file) ?? [], warnings: odd.get(file) ?? [] }));
}

const byFile = (problems: readonly SourceProblem[]) => Map.groupBy(problems, ({ file }) => file);
