import { basename } from 'node:path';
import { nearest } from '../base/nearest.ts';
import { printableLine } from '../base/printable.ts';
import type { Pod } from '../kubernetes/api/schema/pod.ts';
import { withoutNode } from '../kubernetes/shownName.ts';
import type { NodeSummary } from './agent.ts';

type Problem = NodeSummary['problems'][number];

/** Where a pod is asked for; in any namespace when that is absent. */
export interface Place {
  /** The node's name. */
  readonly node: string;
  readonly namespace?: string | undefined;
}

/** Whether a file bears the name of a manifest, perhaps after an order: `web.yaml`, `10-web.yaml`. */
function isOfFile(name: string, { file }: Problem): boolean {
  return (
    basename(file)
      .replace(/\.(ya?ml|json)$/, '')
      .replace(/^\d+[-_.]/, '') === name
  );
}

/** Whether a problem may be about a pod of this namespace; it may when nobody can tell. */
export function mayBeIn(namespace: string | undefined, { pod }: Problem): boolean {
  return namespace === undefined || pod === undefined || pod.split('/')[0] === namespace;
}

/** Whether a problem is about a pod of this name: by the name in the manifest or, where none can be read, its file's. */
function isOf(name: string, { node, namespace }: Place, problem: Problem): boolean {
  const pod = problem.pod?.split('/').at(-1);
  if (pod === undefined) return isOfFile(withoutNode(name, node), problem);
  return mayBeIn(namespace, problem) && (pod === name || pod === `${name}-${node.toLowerCase()}`);
}

/** Returns `FILE: FIELD: MESSAGE` and the condition for the use of the manifest on one line, even if the file's name has line breaks. */
export const problemSentence = ({ file, path, message, until }: Problem): string => {
  const field = path === '' ? '' : `${path}: `;
  const condition = until === undefined ? '' : ` (not used until ${until})`;
  return printableLine(`${file}: ${field}${message}${condition}`);
};

/** Those of the problems that are about a pod, one sentence each with file and field. */
export function problemsOf(name: string, place: Place, problems: readonly Problem[]): string[] {
  return problems.filter((problem) => isOf(name, place, problem)).map(problemSentence);
}

/** The pod that somebody who asked for an unknown name most likely meant, of those that run and those that are refused. */
export function nearestPod(
  name: string,
  { node, namespace }: Place,
  pods: readonly Pod[],
  problems: readonly Problem[],
): string | undefined {
  const refused = problems.filter((problem) => mayBeIn(namespace, problem));
  const full = [
    ...pods.map(({ metadata }) => metadata.name),
    ...refused.flatMap(({ pod }) => pod?.split('/').at(-1) ?? []),
  ];
  const written = full.map((each) => withoutNode(each, node));
  return nearest(name, new Set([...written, ...full]));
}
