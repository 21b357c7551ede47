import { basename } from 'node:path';
import { nearest } from '../base/nearest.ts';
import { printableLine } from '../base/printable.ts';
import type { Pod } from '../kubernetes/api/schema/pod.ts';
import { withoutNodeSuffix } from '../kubernetes/shownName.ts';
import type { NodeSummary } from './agent.ts';

type Problem = NodeSummary['problems'][number];

/** The scope of a lookup by name. All namespaces if `namespace` is undefined. */
export interface LookupScope {
  readonly node: string;
  readonly namespace?: string | undefined;
}

/**
 * Whether the file name matches a pod's name, ignoring the extension and a numeric prefix, e.g. `web.yaml` or
 * `10-web.yaml`.
 */
function matchesFileName(name: string, { file }: Problem): boolean {
  return (
    basename(file)
      .replace(/\.(ya?ml|json)$/, '')
      .replace(/^\d+[-_.]/, '') === name
  );
}

/** Whether a problem can concern a pod of this namespace. True if the namespace is unknown. */
export function mayBeIn(namespace: string | undefined, { pod }: Problem): boolean {
  return namespace === undefined || pod === undefined || pod.split('/')[0] === namespace;
}

/**
 * Whether a problem concerns a pod of this name. Compares the name in the manifest or, if that cannot be read, the name
 * of the file.
 */
function concernsPod(name: string, { node, namespace }: LookupScope, problem: Problem): boolean {
  const pod = problem.pod?.split('/').at(-1);
  if (pod === undefined) return matchesFileName(withoutNodeSuffix(name, node), problem);
  return mayBeIn(namespace, problem) && (pod === name || pod === `${name}-${node.toLowerCase()}`);
}

/**
 * Returns `FILE: FIELD: MESSAGE` and the condition under which the manifest will be used, on one line, even if the
 * file's name contains line breaks.
 */
export const problemSentence = ({ file, path, message, until }: Problem): string => {
  const field = path === '' ? '' : `${path}: `;
  const condition = until === undefined ? '' : ` (not used until ${until})`;
  return printableLine(`${file}: ${field}${message}${condition}`);
};

/** Returns the problems that concern a pod, one sentence each. */
export function problemsOf(name: string, place: LookupScope, problems: readonly Problem[]): string[] {
  return problems.filter((problem) => concernsPod(name, place, problem)).map(problemSentence);
}

/** Suggests the running or rejected pod whose name is most similar to an unknown name. */
export function nearestPod(
  name: string,
  { node, namespace }: LookupScope,
  pods: readonly Pod[],
  problems: readonly Problem[],
): string | undefined {
  const rejected = problems.filter((problem) => mayBeIn(namespace, problem));
  const fullNames = [
    ...pods.map(({ metadata }) => metadata.name),
    ...rejected.flatMap(({ pod }) => pod?.split('/').at(-1) ?? []),
  ];
  const shortNames = fullNames.map((each) => withoutNodeSuffix(each, node));
  return nearest(name, new Set([...shortNames, ...fullNames]));
}
