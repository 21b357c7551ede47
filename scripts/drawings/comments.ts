/** What the authors of charts say of states: the comments above them, which a machine at work does not have. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnyStateMachine } from 'xstate';
import { dotted, nodesOf } from '../../machines/drawing/ways.ts';

const COMMENTED = /\/\*\* ([^*]+) \*\/\n\s+(\w+)(?:,|: \{)/g;

/** The comments of the states of a machine, by their paths; of a state whose name others of the machine have too none. */
export function commentsOf(root: string, machine: AnyStateMachine): ReadonlyMap<string, string> {
  const comments = textsOf(root, machine).flatMap((text) =>
    [...text.matchAll(COMMENTED)].map(([, comment = '', key = '']) => [key, comment] as const),
  );
  const states = nodesOf(machine.root).slice(1);
  const named = (key: string) => states.filter((node) => node.key === key);
  return new Map(
    comments.flatMap(([key, comment]) => {
      const [node, ...others] = named(key);
      return node && others.length === 0 ? [[dotted(node), withoutRules(comment)] as const] : [];
    }),
  );
}

/** The numbers of rules stand beside it. */
const withoutRules = (comment: string): string => comment.replaceAll(/ \(C\d+(, C\d+)*\)/g, '');

/** The files that a machine is written in: a folder of its own, or one file in its parent's. */
function textsOf(root: string, { id }: AnyStateMachine): string[] {
  const folder = join(root, 'machines');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const texts = files.map((file) => ({ file, text: readFileSync(join(folder, file), 'utf8') }));
  const chart = texts.find(({ text }) => text.includes(`id: '${id}',`) && text.includes('createMachine'));
  if (chart === undefined) return [];
  const own = chart.file.replace(/chart[.]ts$/, '');
  const isPart = (file: string) => chart.file.endsWith('chart.ts') && file.startsWith(`${own}states/`);
  return [chart.text, ...texts.filter(({ file }) => isPart(file)).map(({ text }) => text)];
}
