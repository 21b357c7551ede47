import { withDefaults } from '../../pod/defaults.ts';
import { readManifest } from '../../pod/manifest.ts';
import type { Problem } from '../../pod/problem.ts';
import { type RuntimeClasses, withRuntimeClass } from '../../pod/runtimeClass.ts';
import type { Pod } from '../../pod/schema/pod.ts';
import { staticPod } from '../../pod/staticPod.ts';
import { validatePod } from '../../pod/validate.ts';
import { parseManifestText } from './manifestFile.ts';

/**
 * What an answer gives: its pods, or all that is wrong with it. A pod that is `refused` for its class leaves those beside
 * it, and what there was of it before.
 */
export type ManifestList =
  | { readonly pods: readonly Pod[]; readonly warnings: readonly Problem[]; readonly refused: readonly Problem[] }
  | { readonly problems: readonly Problem[] };

interface Origin {
  readonly url: string;
  readonly nodeName: string;
  /** Milliseconds since the epoch. */
  readonly seenAt: number;
  /** Those that a pod may name. */
  readonly classes?: RuntimeClasses;
  /** The pods that there were before, by their uids. */
  readonly known?: ReadonlyMap<string, Pod>;
}

/** Reads what a URL gave, YAML or JSON: one Pod, a PodList, or a List of Pods (C24). */
export function parseManifestList(text: string, origin: Origin): ManifestList {
  const parsed = parseManifestText(text, 'the answer');
  if ('problem' in parsed) return { problems: [parsed.problem] };
  const read = itemsOf(parsed.value).map(({ path, value }) => readPod(path, value, origin));
  const problems = read.flatMap((each) => ('problems' in each ? each.problems : []));
  if (problems.length > 0) return { problems };
  const good = read.flatMap((each) => ('pods' in each ? [each] : []));
  const pods = good.flatMap((each) => each.pods);
  const twice = duplicate(pods);
  if (twice !== undefined) return { problems: [twice] };
  return {
    pods,
    warnings: good.flatMap(({ warnings }) => warnings),
    refused: good.flatMap(({ refused }) => refused),
  };
}

function readPod(
  path: string,
  value: unknown,
  { url, nodeName, seenAt, classes = new Map(), known = new Map() }: Origin,
): ManifestList {
  const within = (problem: Problem): Problem => ({ ...problem, path: [path, problem.path].filter(Boolean).join('.') });
  const manifest = readManifest(value);
  if ('problems' in manifest) return { problems: manifest.problems.map(within) };
  const warnings = manifest.warnings.map(within);
  const written = staticPod(manifest.pod, { nodeName, source: 'http', origin: url, seenAt });
  const before = known.get(written.metadata.uid);
  const admitted = withRuntimeClass(written, classes, before);
  if ('problems' in admitted) return { pods: before ? [before] : [], warnings, refused: admitted.problems.map(within) };
  const pod = withDefaults(admitted.pod);
  const problems = validatePod(pod).map(within);
  return problems.length > 0 ? { problems: [...problems, ...warnings] } : { pods: [pod], warnings, refused: [] };
}

/** The items of a list, which need not say of themselves what they are; of anything else the one that it is. */
function itemsOf(value: unknown): { path: string; value: unknown }[] {
  const isList =
    typeof value === 'object' && value !== null && 'kind' in value && ['PodList', 'List'].includes(String(value.kind));
  if (!isList) return [{ path: '', value }];
  // A list of none is written as null by those who write Go.
  const items: unknown = ('items' in value ? value.items : null) ?? [];
  if (!Array.isArray(items)) return [{ path: 'items', value: items }];
  return items.map((item: unknown, index) => ({
    path: `items[${index}]`,
    value: typeof item === 'object' && item !== null ? { apiVersion: 'v1', kind: 'Pod', ...item } : item,
  }));
}

function duplicate(pods: readonly Pod[]): Problem | undefined {
  const uids = pods.map(({ metadata }) => metadata.uid);
  const index = uids.findIndex((uid, at) => uids.indexOf(uid) !== at);
  if (index < 0) return undefined;
  return { path: `items[${index}].metadata.uid`, message: `Duplicate value: "${uids[index]}"` };
}
