/** Generates the page that compares the node suite of Kubernetes with the tests of this repository. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type EquivalentTest, NODE_SUITE, type SuiteSpec } from './specs.ts';

export const NODE_SUITE_PAGE = 'docs/reference/node-suite.md';

const root = join(import.meta.dirname, '../..');

const readTest = (file: string): string => readFileSync(join(root, 'test', file), 'utf8');

/** Returns all tests that the page names, in its order. */
export const namedTests = (): EquivalentTest[] => allSpecs().flatMap(({ tests }) => tests ?? []);

export const allSpecs = (): SuiteSpec[] =>
  NODE_SUITE.flatMap(({ contexts }) => contexts).flatMap(({ specs }) => [...specs]);

/** A test in the source of a test file. */
interface SourceTest {
  /** Title as written in the source, with the placeholders of a table. */
  readonly title: string;
  /** Titles of the groups around the test. */
  readonly groups: readonly string[];
}

/** Matches a call whose first argument is a title and whose second is a function. */
const TEST_CALL =
  /^( *)(?:(\w+)[^\n]*?|[^\n]*\))\(\s*(['"`])((?:\\.|(?!\3)[^\\])+)\3,\s*(?:async )?(?:\(|\w+ =>|\w+,?\s*\))/gm;

/** Returns the tests in the source of a test file. The source is formatted, so its indentation shows the groups. */
export function listTests(source: string): SourceTest[] {
  const groups: { readonly indentation: number; readonly title: string }[] = [];
  return Array.from(source.matchAll(TEST_CALL)).flatMap(([, { length: indentation } = '', callee, , literal = '']) => {
    const title = unescapeLiteral(literal);
    while ((groups.at(-1)?.indentation ?? -1) >= indentation) groups.pop();
    if (callee !== 'describe') return [{ title, groups: groups.map((group) => group.title) }];
    groups.push({ indentation, title });
    return [];
  });
}

const unescapeLiteral = (literal: string): string => literal.replaceAll(/\\(.)/g, '$1');

/** Returns the test in its file. Returns undefined if the file has no such test or the test's table has no such row. */
export function findTest({ file, title, row = '' }: EquivalentTest): SourceTest | undefined {
  const source = readTest(file);
  // Also search the tables that are in separate files next to the test because of their length.
  const tables = Array.from(source.matchAll(/ from '\.\/(\w+\.ts)';$/gm), ([, name = '']) =>
    readTest(join(file, '..', name)),
  );
  const isInTable = [source, ...tables].some((text) => unescapeLiteral(text).includes(row));
  return isInTable ? listTests(source).find((each) => each.title === title) : undefined;
}

/** Returns the environment in which the tests of a file run. */
function environmentOf(file: string): string {
  if (file.startsWith('vm/')) return 'virtual machine';
  if (file.startsWith('e2e/')) return 'real containerd';
  const isSimulated = /\b(simulatedNode|joinedNode|countedNode|simulateNode)\(/.test(readTest(file));
  return isSimulated || file.startsWith('testing/simulation/') ? 'simulation' : 'unit';
}

const INTRODUCTION = `# The node suite of Kubernetes

Kubernetes tests its kubelet on a real host with the specs of \`test/e2e_node\`. This page lists, for release 1.36, the specs about
eviction, garbage collection, the managers of CPUs, memory, topology and devices, pod resources, resource claims, huge pages, swap,
memory QoS, limits of processes, shutdown, critical pods, OOM kills, restarts, cgroups and statistics. For each it names the tests
of this repository that assert the same behaviour, and how they run:

- **unit**: a function, a machine or a service by itself
- **simulation**: a whole node, on the simulated runtime
- **real containerd**: an agent with real containers, as part of \`npm test\`
- **virtual machine**: an agent started by systemd, on a host with cgroup v2 ([hosts](hosts.md))

A spec without such a test has the reason in its place. The last column says which part of a spec its tests leave out, or how they
differ. The suite itself does not run against statelet, because its specs start and configure a kubelet.

This page is written by \`npm run docs\`, from [scripts/nodeSuite/specs.ts](../../scripts/nodeSuite/specs.ts). A test checks that
each named test exists.`;

/** Returns the contents of docs/reference/node-suite.md. */
export function nodeSuitePage(): string {
  const specs = allSpecs();
  const covered = specs.filter(({ tests }) => tests !== undefined);
  const sections = NODE_SUITE.flatMap(({ file, contexts }) => [
    '',
    `## ${file}`,
    ...contexts.flatMap(({ context, specs }) => [
      ...(context === undefined ? [] : ['', `### ${context}`]),
      '',
      '| Spec | Tests here | Run as | Remark |',
      '|---|---|---|---|',
      ...specs.map(tableRow),
    ]),
  ]);
  return [
    INTRODUCTION,
    '',
    `Of ${specs.length} rows, ${covered.length} have a test and ${specs.length - covered.length} have none.`,
    ...sections,
    '',
  ].join('\n');
}

function tableRow({ spec, tests, remark = '' }: SuiteSpec): string {
  const links = (tests ?? []).map((each) => `[${each.file}](../../test/${each.file}): ${fullTitle(each)}`);
  const environments = new Set(tests?.map(({ file }) => environmentOf(file)));
  const cells = [spec, tests === undefined ? 'none' : links.join('<br>'), [...environments].join(', '), remark];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

/**
 * Returns the full title of a test, including the titles of its groups. The row replaces the title's only placeholder.
 */
function fullTitle(equivalent: EquivalentTest): string {
  const { title, row } = equivalent;
  const placeholders = title.match(/%[a-z]|\$[\w.]+/g) ?? [];
  const ownTitle = placeholders.length === 1 && row !== undefined ? title.replace(placeholders[0], () => row) : title;
  const path = [...(findTest(equivalent)?.groups ?? []), ownTitle].join(' › ');
  return (row === undefined || ownTitle !== title ? path : `${path} (${row})`).replaceAll('<', '&lt;');
}
