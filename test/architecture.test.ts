/** Checks the documents against the code: outlines of machines, file names, links and sizes. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { containerMachine } from '../machines/container/chart.ts';
import { podMachine } from '../machines/pod/chart.ts';
import { productFolders } from './support/tree.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const actors = readFileSync(join(root, 'docs/design/actors.md'), 'utf8');
const podFileByFile = readFileSync(join(root, 'docs/design/pod-file-by-file.md'), 'utf8');

/** Returns `a --> b` for each arrow of an outline. */
function drawn(name: string): string[] {
  const [, outline = ''] = actors.split(`<!-- outline of ${name} -->`);
  const [chart = ''] = outline.split('```\n');
  return [...chart.matchAll(/^ {4}(\w+ --> \w+)/gm)].map(([, way = '']) => way).sort();
}

const nodesBelow = (node: AnyStateNode): AnyStateNode[] => [node, ...Object.values(node.states).flatMap(nodesBelow)];

function topOf(node: AnyStateNode): string {
  return node.parent?.parent ? topOf(node.parent) : node.key;
}

/** Returns `a --> b` for each transition between different top-level states, including those of nested states. */
function ways({ root }: AnyStateMachine): string[] {
  const found = Object.values(root.states)
    .flatMap((state: AnyStateNode) => nodesBelow(state))
    .flatMap((node) => {
      const transitions = [...[...node.transitions.values()].flat(), ...(node.always ?? [])];
      return transitions.flatMap(({ target = [] }) => target.map((to) => [topOf(node), topOf(to)] as const));
    })
    .filter(([from, to]) => from !== to)
    .map(([from, to]) => `${from} --> ${to}`);
  return [...new Set(found)].sort();
}

test('the outline of a pod is that of its machine', () => {
  expect(drawn('pod')).toEqual(ways(podMachine));
});

test('the outline of a container is that of its machine', () => {
  expect(drawn('container')).toEqual(ways(containerMachine));
});

const documents = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.md') && !/(^|\/)(node_modules|coverage|\.\w+)\//.test(file),
);

test('every link of a document leads to a file', () => {
  const dead = documents.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8').replaceAll(/```.*?```/gs, '');
    const links = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, link = '']) => link);
    return links.filter((link) => !existsSync(join(root, dirname(file), link))).map((link) => `${file}: ${link}`);
  });
  expect(documents.length).toBeGreaterThan(30);
  expect(dead).toEqual([]);
});

test('the README and ARCHITECTURE.md are short enough to be read', () => {
  const text = (file: string) => readFileSync(join(root, file), 'utf8');
  expect(text('README.md').split(/\s+/).length).toBeLessThanOrEqual(1_800);
  expect(text('ARCHITECTURE.md').length).toBeLessThanOrEqual(15_000);
});

describe('the path of a pod', () => {
  const [, way = ''] = podFileByFile.split('<!-- way of a pod -->');
  const files: readonly string[] = (way.split('```')[1] ?? '').match(/\S+\.ts\b/g) ?? [];
  // The simulated runtime needs neither a socket nor cgroups.
  const ofRealRuntimes = ['cri/client/connectCri.ts', 'host/cgroup/podCgroups.ts'];

  test('names existing files, each once', () => {
    expect(files.length).toBeGreaterThan(50);
    expect(files.filter((file, index) => !existsSync(join(root, file)) || files.indexOf(file) !== index)).toEqual([]);
  });

  test('names only files that a pod passes on its way to Running', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'test/support/podWay.ts')]);
    const passed: unknown = JSON.parse(stdout);
    expect(passed).toEqual(expect.arrayContaining(files.filter((file) => !ofRealRuntimes.includes(file))));
  });
});

test('each file that CONTRIBUTING.md names by its path exists', () => {
  const named = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').matchAll(/`((?:[\w.-]+\/)+[\w.-]+\.\w+)`/g);
  const folders = [...productFolders, 'test', 'docs'];
  const files = [...named].map(([, file = '']) => file).filter((file) => folders.includes(file.split('/')[0] ?? ''));
  expect(files).not.toEqual([]);
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});
