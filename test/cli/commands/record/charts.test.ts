import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createMachine } from 'xstate';
import { printCharts } from '../../../../cli/commands/record/charts.ts';
import { machines } from '../../../../machines/drawing/charts.ts';

/** Returns the output of the command. */
async function outputOf(options: Parameters<typeof printCharts>[0]): Promise<string> {
  let output = '';
  await printCharts(options, (text) => {
    output += text;
  });
  return output;
}

test('prints the definition of one machine as JSON', async () => {
  const { id, root } = createMachine(JSON.parse(await outputOf({ name: 'lease', format: 'json' })));
  expect([id, Object.keys(root.states)]).toEqual(['lease', expect.arrayContaining(['renewing', 'current'])]);
});

test('prints the definitions of all machines as one JSON list', async () => {
  const definitions: { readonly id: string }[] = JSON.parse(await outputOf({ format: 'json' }));
  expect(definitions.map(({ id }) => id)).toEqual(machines.map(({ id }) => id));
});

test('writes each definition to a file', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'statelet-charts-'));
  try {
    expect(await outputOf({ format: 'json', output: directory })).toBe('');
    expect((await readdir(directory)).toSorted()).toEqual(machines.map(({ id }) => `${id}.json`).toSorted());
    expect(JSON.parse(await readFile(join(directory, 'pod.json'), 'utf8'))).toMatchObject({ id: 'pod' });
  } finally {
    await rm(directory, { recursive: true });
  }
});
