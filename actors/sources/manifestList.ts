import type { Problem } from '../../pod/api/problem.ts';
import type { Pod } from '../../pod/api/schema/pod.ts';
import type { ReadManifest } from './manifestText.ts';
import { problemsToTell } from './problemsToTell.ts';

/** A mistake in a list, and the pod that it is about, `NAMESPACE/NAME`. */
export interface ListProblem extends Problem {
  readonly pod?: string;
}

/**
 * What an answer gives: its pods, or all that is wrong with it. A pod that is `refused` for its class leaves those beside
 * it, and what there was of it before.
 */
export type ManifestList =
  | {
      readonly pods: readonly Pod[];
      readonly warnings: readonly ListProblem[];
      readonly refused: readonly ListProblem[];
    }
  | { readonly problems: readonly ListProblem[] };

/** What a URL gave: one Pod, a PodList, or a List of Pods (C24). `before` has the pod of a uid that there was before. */
export function podsOf(manifests: readonly ReadManifest[], before: (uid: string) => Pod | undefined): ManifestList {
  const pods: Pod[] = [];
  const problems: ListProblem[] = [];
  const warnings: ListProblem[] = [];
  const refused: ListProblem[] = [];
  for (const { path, read } of manifests) {
    if ('pod' in read) {
      pods.push(read.pod);
      warnings.push(...within(path, nameOf(read.pod), read.warnings));
    } else if (read.refusedByClass === undefined) {
      problems.push(...within(path, read.name, read.problems));
    } else {
      const kept = before(read.refusedByClass);
      if (kept) pods.push(kept);
      refused.push(...within(path, read.name, read.problems));
    }
  }
  if (problems.length > 0) return { problems: problems.length > MOST_PROBLEMS ? problemsToTell(problems) : problems };
  const twice = duplicate(pods);
  return twice === undefined ? { pods, warnings, refused } : { problems: [twice] };
}

/** A list of pods that are all alike has the same mistake in each. */
const MOST_PROBLEMS = 100;

const nameOf = ({ metadata }: Pod): string => `${metadata.namespace}/${metadata.name}`;

const within = (path: string, pod: string | undefined, problems: readonly Problem[]): ListProblem[] =>
  problems.map((problem) => ({
    ...problem,
    path: [path, problem.path].filter(Boolean).join('.'),
    ...(pod === undefined ? {} : { pod }),
  }));

function duplicate(pods: readonly Pod[]): Problem | undefined {
  const seen = new Set<string>();
  for (const [index, { metadata }] of pods.entries()) {
    if (seen.has(metadata.uid)) {
      return { path: `items[${index}].metadata.uid`, message: `Duplicate value: "${metadata.uid}"` };
    }
    seen.add(metadata.uid);
  }
  return undefined;
}
