import { basename } from 'node:path';
import { closestWord } from '../base/text/closestWord.ts';
import { printableLine } from '../base/text/printable.ts';
import type { Pod } from '../kubernetes/api/schema/pod.ts';
import { withoutNodeSuffix } from '../kubernetes/shownName.ts';
import type { NodeSummary } from './agent.ts';

type ManifestProblem = NodeSummary['problems'][number];

/** The scope in which a pod is looked up by its name. Covers all namespaces if `namespace` is undefined. */
export interface LookupScope {
  readonly node: string;
  readonly namespace?: string | undefined;
}

/**
 * Whether the file name matches a pod's name, ignoring the extension and a numeric prefix, e.g. `web.yaml` or
 * `10-web.yaml`.
 */
function matchesFileName(name: string, { file }: ManifestProblem): boolean {
  return (
    basename(file)
      .replace(/\.(ya?ml|json)$/, '')
      .replace(/^\d+[-_.]/, '') === name
  );
}

/** Whether a problem can concern a pod of this namespace. True if either namespace is unknown. */
export function mayBelongTo(namespace: string | undefined, { pod }: ManifestProblem): boolean {
  return namespace === undefined || pod === undefined || pod.split('/')[0] === namespace;
}

/**
 * Whether a problem concerns a pod of this name. Compares the name in the manifest or, if that cannot be read, the name
 * of the file.
 */
function concernsPod(name: string, { node, namespace }: LookupScope, problem: ManifestProblem): boolean {
  const pod = problem.pod?.split('/').at(-1);
  if (pod === undefined) return matchesFileName(withoutNodeSuffix(name, node), problem);
  return mayBelongTo(namespace, problem) && (pod === name || pod === `${name}-${node.toLowerCase()}`);
}

/**
 * Returns `FILE: FIELD: MESSAGE` followed by the condition under which the manifest will be used. The result is a
 * single line even if the file name contains line breaks.
 */
export const formatProblem = ({ file, path, message, until }: ManifestProblem): string => {
  const fieldPrefix = path === '' ? '' : `${path}: `;
  const untilSuffix = until === undefined ? '' : ` (not used until ${until})`;
  return printableLine(`${file}: ${fieldPrefix}${message}${untilSuffix}`);
};

/** Returns the problems that concern a pod, one sentence each. */
export function listPodProblems(name: string, scope: LookupScope, problems: readonly ManifestProblem[]): string[] {
  return problems.filter((problem) => concernsPod(name, scope, problem)).map(formatProblem);
}

/** Suggests the running or rejected pod whose name is most similar to an unknown name. */
export function suggestPod(
  name: string,
  { node, namespace }: LookupScope,
  pods: readonly Pod[],
  problems: readonly ManifestProblem[],
): string | undefined {
  const rejectedManifests = problems.filter((problem) => mayBelongTo(namespace, problem));
  const fullNames = [
    ...pods.map(({ metadata }) => metadata.name),
    ...rejectedManifests.flatMap(({ pod }) => pod?.split('/').at(-1) ?? []),
  ];
  const shortNames = fullNames.map((each) => withoutNodeSuffix(each, node));
  return closestWord(name, new Set([...shortNames, ...fullNames]));
}
