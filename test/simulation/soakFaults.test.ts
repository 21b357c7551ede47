import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import { soakFaults } from '../../simulation/soakFaults.ts';
import { shortStories } from '../../simulation/stories/shortStories.ts';
import { noSandbox } from './noSandbox.ts';

test.each(['each', 'pairs'] as const)(
  'a soak with %s of the faults tells its part of every short story',
  async (faults) => {
    const said: string[] = [];
    const log = jest.spyOn(console, 'log').mockImplementation((line: string) => void said.push(line));
    const of = faults === 'each' ? 1_000 : 20_000;
    try {
      expect(await soakFaults({ faults, seed: 5, part: 0, of })).toBe(true);
    } finally {
      log.mockRestore();
    }
    expect(said[0]).toBe(`seed 5, part 0 of ${of}`);
    const told = said.slice(1).map((line) => line.split(': ')[0]);
    expect(told).toEqual(Object.keys(shortStories));
    expect(said.at(-1)).toMatch(/: [1-9]\d* stories, \d{2,} steps, \d+ a second, 0 broke an invariant$/);
  },
);

test('a soak of faults that is stopped tells how far it has come', async () => {
  const said: string[] = [];
  const log = jest.spyOn(console, 'log').mockImplementation((line: string) => void said.push(line));
  try {
    expect(await soakFaults({ faults: 'each', seed: 5, signal: AbortSignal.abort('SIGTERM') })).toBe(true);
  } finally {
    log.mockRestore();
  }
  const [story] = Object.keys(shortStories);
  expect(said.slice(1)).toEqual([
    `stopped by SIGTERM in '${story}': 0 stories, 0 steps, 0 a second, 0 broke an invariant`,
  ]);
});

test('what a soak of faults finds is shown with its seed, and kept with a recording', async () => {
  const said: string[] = [];
  const log = jest.spyOn(console, 'log').mockImplementation((line: string) => void said.push(line));
  const directory = mkdtempSync(join(tmpdir(), 'statelet-soak-'));
  try {
    const options = { faults: 'pairs', seed: 5, of: 20_000, invariants: [noSandbox], directory } as const;
    expect(await soakFaults(options)).toBe(false);
    const [file = ''] = readdirSync(directory);
    const found = JSON.parse(readFileSync(join(directory, file), 'utf8'));
    expect(found).toMatchObject({ number: noSandbox.number, recording: { entries: expect.any(Array) } });
  } finally {
    log.mockRestore();
    rmSync(directory, { recursive: true });
  }
  const [title] = Object.keys(shortStories);
  expect(said[1]).toMatch(new RegExp(`^invariant ${noSandbox.number}: .*: '${title}' with \\[`));
  expect(said[2]).toMatch(/^seed \d+: invariant \d+, step \d+, /);
  expect(said[3]).toMatch(/^kept in .*: `createReplay` plays /);
}, 60_000);
