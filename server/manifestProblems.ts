import { basename } from 'node:path';
import { nearest } from '../pod/nearest.ts';
import type { NodeSummary } from './agent.ts';

type Problem = NodeSummary['problems'][number];

/** Whether a file bears the name of a manifest, perhaps after an order: `web.yaml`, `10-web.yaml`. */
function isOfFile(name: string, { file }: Problem): boolean {
  return (
    basename(file)
      .replace(/\.(ya?ml|json)$/, '')
      .replace(/^\d+[-_.]/, '') === name
  );
}

/** Whether a problem is about a pod of this name: by the name in the manifest or, where none can be read, its file's. */
const isOf = (name: string, node: string, problem: Problem): boolean => {
  const pod = problem.pod?.split('/').at(-1);
  return pod === undefined ? isOfFile(manifestName(name, node), problem) : pod === name || pod === `${name}-${node}`;
};

/** The name that a static pod has in its manifest. */
function manifestName(name: string, node: string): string {
  return name.endsWith(`-${node}`) ? name.slice(0, -node.length - 1) : name;
}

/** `FILE: FIELD: MESSAGE`, and what has to happen before the manifest is used. */
const sentence = ({ file, path, message, until }: Problem): string =>
  `${file}: ${path === '' ? '' : `${path}: `}${message}${until === undefined ? '' : ` (not used until ${until})`}`;

/** Those of the problems that are about a pod, one sentence each with file and field. */
export function problemsOf(name: string, nodeName: string, problems: readonly Problem[]): string[] {
  const node = nodeName.toLowerCase();
  return problems.filter((problem) => isOf(name, node, problem)).map(sentence);
}

/** The pod that somebody who asked for an unknown name most likely meant, of those that run and those that are refused. */
export function nearestPod(
  name: string,
  nodeName: string,
  pods: readonly string[],
  problems: readonly Problem[],
): string | undefined {
  const full = [...pods, ...problems.flatMap(({ pod }) => pod?.split('/').at(-1) ?? [])];
  const written = full.map((each) => manifestName(each, nodeName.toLowerCase()));
  return nearest(name, new Set([...written, ...full]));
}
