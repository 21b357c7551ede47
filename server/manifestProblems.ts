import { basename } from 'node:path';
import type { NodeSummary } from './agent.ts';

type Problem = NodeSummary['problems'][number];

/** How many problems are named at most. */
const SHOWN = 3;

/** Whether a file bears the name of a manifest, perhaps after an order: `web.yaml`, `10-web.yaml`. */
function isOf(name: string, { file }: Problem): boolean {
  return (
    basename(file)
      .replace(/\.(ya?ml|json)$/, '')
      .replace(/^\d+[-_.]/, '') === name
  );
}

const sentence = ({ file, path, message }: Problem) => `${file}: ${path === '' ? '' : `${path}: `}${message}`;

/** What is wrong with the manifest of a name, by its file's name, one sentence each with file and field. */
export function problemsOf(name: string, problems: readonly Problem[]): string[] {
  return problems.filter((problem) => isOf(name, problem)).map(sentence);
}

/** What may be why there is no pod of a name: what is wrong with its manifest, or else with any, as files bear any name. */
export function problemsBehind(name: string, problems: readonly Problem[]): string[] {
  const own = problemsOf(name, problems);
  return (own.length > 0 ? own : problems.map(sentence)).slice(0, SHOWN);
}
