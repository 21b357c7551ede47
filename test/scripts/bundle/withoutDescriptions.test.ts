import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import type { AnyStateMachine } from 'xstate';
import { machines } from '../../../machines/drawing/charts.ts';
import { definitionOf } from '../../../machines/drawing/definition.ts';
import { withoutDescriptions } from '../../../scripts/bundle/withoutDescriptions.ts';
import { root } from '../../support/root.ts';

const directory = mkdtempSync(join(tmpdir(), 'descriptions-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** Returns the machines as they are in the daemon's bundle. */
async function bundledMachines(): Promise<readonly AnyStateMachine[]> {
  const { outputFiles } = await build({
    entryPoints: [join(root, 'machines/drawing/charts.ts')],
    bundle: true,
    format: 'esm',
    platform: 'node',
    plugins: [withoutDescriptions],
    write: false,
  });
  const file = join(directory, 'machines.mjs');
  writeFileSync(file, outputFiles[0]?.contents ?? '');
  const bundle: { machines: readonly AnyStateMachine[] } = await import(pathToFileURL(file).href);
  return bundle.machines;
}

/** Returns the definitions of machines as text without descriptions, and the number of their descriptions. */
function definitionsOf(all: readonly AnyStateMachine[]) {
  let descriptions = 0;
  const text = JSON.stringify(all.map(definitionOf), (key, value) => {
    if (key !== 'description') return value;
    descriptions += 1;
    return undefined;
  });
  return { text, descriptions };
}

test('the machines in the daemon differ only in their missing descriptions', async () => {
  const bundled = definitionsOf(await bundledMachines());
  const original = definitionsOf(machines);
  expect(bundled.text).toBe(original.text);
  expect(original.descriptions).toBeGreaterThan(250);
  // Descriptions that a function adds to several states remain.
  expect(bundled.descriptions).toBeLessThan(10);
});
