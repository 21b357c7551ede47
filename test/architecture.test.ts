/** Holds the outlines in ARCHITECTURE.md to the machines: the same states at the top, the same ways between them. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { containerMachine } from '../machines/container/chart.ts';
import { podMachine } from '../machines/pod/chart.ts';
import { productFolders } from './support/tree.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');

/** `a --> b` for each way that the page draws. */
function drawn(name: string): string[] {
  const [, outline = ''] = page.split(`<!-- outline of ${name} -->`);
  const [chart = ''] = outline.split('```\n');
  return [...chart.matchAll(/^ {4}(\w+ --> \w+)/gm)].map(([, way = '']) => way).sort();
}

const nodesBelow = (node: AnyStateNode): AnyStateNode[] => [node, ...Object.values(node.states).flatMap(nodesBelow)];

function topOf(node: AnyStateNode): string {
  return node.parent?.parent ? topOf(node.parent) : node.key;
}

/** `a --> b` for each way from one top state, or from a state within it, to another. */
function ways({ root: top }: AnyStateMachine): string[] {
  const found = Object.values(top.states)
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

test.each(['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md'])('what %s points to is there', (file) => {
  const text = readFileSync(join(root, file), 'utf8');
  const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, link = '']) => link);
  expect(links).not.toEqual([]);
  expect(links.filter((link) => !existsSync(join(root, link)))).toEqual([]);
});

describe('the way of a pod', () => {
  const [, way = ''] = page.split('<!-- way of a pod -->');
  const files: readonly string[] = (way.split('```')[1] ?? '').match(/\S+\.ts\b/g) ?? [];
  // The simulated runtime is called without a socket, and has no cgroups.
  const ofRealRuntimes = ['cri/grpc.ts', 'host/cgroup/podCgroups.ts'];

  test('names files that are there, each once', () => {
    expect(files.length).toBeGreaterThan(50);
    expect(files.filter((file, index) => !existsSync(join(root, file)) || files.indexOf(file) !== index)).toEqual([]);
  });

  test('names only files that a pod passes on its way to Running', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'test/support/podWay.ts')]);
    const passed: unknown = JSON.parse(stdout);
    expect(passed).toEqual(expect.arrayContaining(files.filter((file) => !ofRealRuntimes.includes(file))));
  });
});

test('each file that CONTRIBUTING.md names by its path is there', () => {
  const named = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').matchAll(/`((?:[\w.-]+\/)+[\w.-]+\.\w+)`/g);
  const folders = [...productFolders, 'test', 'docs'];
  const files = [...named].map(([, file = '']) => file).filter((file) => folders.includes(file.split('/')[0] ?? ''));
  expect(files).not.toEqual([]);
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});
