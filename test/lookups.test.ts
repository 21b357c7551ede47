/**
 * Names from outside are data. Every plain object has the properties `constructor`, `toString` and `__proto__`, which
 * may also be the UID of a pod or the name of a container, a volume or a file. So every lookup by a name goes through
 * `lookUp`.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { type ElementAccessExpression, type Node, SyntaxKind } from 'typescript/unstable/ast';
import { isBinaryExpression, isBindingElement, isComputedPropertyName, isIdentifier } from 'typescript/unstable/ast/is';
import { API, type Checker, type Type } from 'typescript/unstable/sync';
import { root } from './support/root.ts';
import { isProduct } from './support/tree.ts';

const api = new API({ cwd: root });
/** This file implements the lookup. */
const exempt = ['base/values/lookUp.ts'];

afterAll(() => api.close());

function nodesOf(node: Node): Node[] {
  const inner: Node[] = [];
  node.forEachChild((child) => void inner.push(...nodesOf(child)));
  return [node, ...inner];
}

/**
 * Returns the nodes that are `map[name]`, read, written or deleted. The types of all nodes are requested in one call.
 */
function lookUpsAmong(checker: Checker, nodes: readonly Node[]): Node[] {
  // TypeScript does not narrow the type of a node by its kind.
  const accesses = nodes.filter(({ kind }) => kind === SyntaxKind.ElementAccessExpression) as ElementAccessExpression[];
  const maps = checker.getTypeAtLocation(accesses.map(({ expression }) => expression));
  const names = checker.getTypeAtLocation(accesses.map(({ argumentExpression }) => argumentExpression));
  return accesses.filter((_, index) => isMap(checker, maps[index]) && !isKnown(checker, names[index]));
}

const answers = new Map<Type, boolean>();

function isMap(checker: Checker, type: Type | undefined): boolean {
  if (type === undefined) return false;
  const known = answers.get(type);
  if (known !== undefined) return known;
  const infos = checker.getIndexInfosOfType(checker.getNonNullableType(type) ?? type);
  const answer = infos.some(({ keyType }) => checker.typeToString(keyType) === 'string');
  answers.set(type, answer);
  return answer;
}

/** Whether the type lists the possible names, none of which is a property of every object. */
function isKnown(checker: Checker, type: Type | undefined): boolean {
  const names = type === undefined ? [] : checker.typeToString(type).split(' | ');
  return names.length > 0 && names.every((name) => /^"(.*)"$/.test(name) && !(name.slice(1, -1) in {}));
}

/** Whether a node is `name in map`. */
const isQuestion = (node: Node): boolean =>
  isBinaryExpression(node) &&
  node.operatorToken.kind === SyntaxKind.InKeyword &&
  node.left.kind !== SyntaxKind.StringLiteral;

/**
 * Whether a node is `const { [name]: value } = map`. A value called `_…` is exempt, because it is only omitted from the
 * rest.
 */
const isTakenOut = (node: Node): boolean =>
  isBindingElement(node) &&
  node.propertyName !== undefined &&
  isComputedPropertyName(node.propertyName) &&
  !(node.name !== undefined && isIdentifier(node.name) && node.name.text.startsWith('_'));

function lookUpsIn(config: string): string[] {
  const project = api.updateSnapshot({ openProject: config }).getProject(config);
  if (project === undefined) throw new Error(`no project at ${config}`);
  const { program, checker } = project;
  const files = program.getSourceFileNames().map((name) => ({ name, file: relative(dirname(config), name) }));
  return files
    .filter(({ file }) => isProduct(file) && !file.startsWith('cri/generated/') && !exempt.includes(file))
    .flatMap(({ name, file }) => {
      const source = program.getSourceFile(name);
      if (source === undefined) return [];
      const nodes = nodesOf(source);
      const found = [...lookUpsAmong(checker, nodes), ...nodes.filter(isQuestion), ...nodes.filter(isTakenOut)];
      return found.map(({ pos, end }) => `${file}: ${source.text.slice(pos, end).trim()}`);
    });
}

test('no map is looked up by a property name that every object has', () => {
  expect(lookUpsIn(`${root}/tsconfig.json`)).toEqual([]);
});

test('each kind of lookup is detected', () => {
  const folder = mkdtempSync(join(tmpdir(), 'statelet-lookups-'));
  try {
    mkdirSync(join(folder, 'kubernetes'));
    writeFileSync(join(folder, 'tsconfig.json'), '{ "compilerOptions": { "strict": true, "types": [] } }');
    const text = `
      export function ways(map: { [name: string]: string }, name: string, kind: 'a' | 'b', list: string[], at: number) {
        const all = [map[name], map?.[name], map[kind], map.a, list[at], name in map, 'a' in map, map[\`x\${name}\`]];
        const { [name]: value, ...rest } = map;
        const { [name]: _left, ...others } = map;
        delete map[name];
        return [all, value, rest, others, (map[name] = 'written')];
      }`;
    writeFileSync(join(folder, 'kubernetes/ways.ts'), text);
    expect(lookUpsIn(join(folder, 'tsconfig.json')).sort()).toEqual([
      'kubernetes/ways.ts: [name]: value',
      'kubernetes/ways.ts: map?.[name]',
      `kubernetes/ways.ts: map[\`x\${name}\`]`,
      'kubernetes/ways.ts: map[name]',
      'kubernetes/ways.ts: map[name]',
      'kubernetes/ways.ts: map[name]',
      'kubernetes/ways.ts: name in map',
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
