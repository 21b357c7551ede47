import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import { soakFaults } from '../../../../testing/simulation/soak/soakFaults.ts';
import { richStories } from '../../../../testing/simulation/stories/scenarios/richStories.ts';
import { shortStories } from '../../../../testing/simulation/stories/scenarios/shortStories.ts';
import { noSandbox } from '../noSandbox.ts';

test.each(['each', 'pairs'] as const)(
  'a soak with the fault mode "%s" plays its part of every short story',
  async (faults) => {
    const printed: string[] = [];
    const log = jest.spyOn(console, 'log').mockImplementation((line: string) => void printed.push(line));
    const of = faults === 'each' ? 1_000 : 20_000;
    try {
      expect(await soakFaults({ faults, seed: 5, part: 0, of })).toBe(true);
    } finally {
      log.mockRestore();
    }
    expect(printed[0]).toBe(`seed 5, part 0 of ${of}`);
    const outcomes = printed.slice(1).map((line) => line.split(': ')[0]);
    const rich = faults === 'each' ? Object.keys(richStories) : [];
    expect(outcomes).toEqual([...Object.keys(shortStories), ...rich]);
    expect(printed.at(-1)).toMatch(/: [1-9]\d* stories, \d{2,} steps, \d+ a second, 0 broke an invariant$/);
  },
);

test('a soak of faults that is stopped reports its progress', async () => {
  const printed: string[] = [];
  const log = jest.spyOn(console, 'log').mockImplementation((line: string) => void printed.push(line));
  try {
    expect(await soakFaults({ faults: 'each', seed: 5, signal: AbortSignal.abort('SIGTERM') })).toBe(true);
  } finally {
    log.mockRestore();
  }
  const [story] = Object.keys(shortStories);
  expect(printed.slice(1)).toEqual([
    `stopped by SIGTERM in '${story}': 0 stories, 0 steps, 0 a second, 0 broke an invariant`,
  ]);
});

test('a violation found by a soak of faults is reported with its seed, and saved with a recording', async () => {
  const printed: string[] = [];
  const log = jest.spyOn(console, 'log').mockImplementation((line: string) => void printed.push(line));
  const directory = mkdtempSync(join(tmpdir(), 'statelet-soak-'));
  try {
    const options = { faults: 'pairs', seed: 5, of: 20_000, invariants: [noSandbox], directory } as const;
    expect(await soakFaults(options)).toBe(false);
    const [file = '', ...others] = readdirSync(directory);
    const found = JSON.parse(readFileSync(join(directory, file), 'utf8'));
    expect(found).toMatchObject({ number: noSandbox.number, recording: { entries: expect.any(Array) } });
    // One file per distinct story that is left after shrinking.
    const stories = [file, ...others].map((each) => JSON.parse(readFileSync(join(directory, each), 'utf8')).story);
    expect(new Set(stories.map((story) => JSON.stringify(story))).size).toBe(stories.length);
    expect(printed.filter((line) => line.startsWith('the same as in ')).length).toBeGreaterThan(0);
  } finally {
    log.mockRestore();
    rmSync(directory, { recursive: true });
  }
  const [title] = Object.keys(shortStories);
  expect(printed[1]).toMatch(new RegExp(`^invariant ${noSandbox.number}: .*: '${title}' with \\[`));
  expect(printed[2]).toMatch(/^seed \d+: invariant \d+, step \d+, /);
  expect(printed[3]).toMatch(/^kept in .*: `createReplay` plays /);
}, 60_000);

test('a story that cannot be completed is reported and saved, and the next story is played', async () => {
  const printed: string[] = [];
  const log = jest.spyOn(console, 'log').mockImplementation((line: string) => void printed.push(line));
  const directory = mkdtempSync(join(tmpdir(), 'statelet-soak-'));
  const follow = () => ({
    onAgentStarted: () => {
      throw new TypeError('of my own');
    },
  });
  try {
    const options = { faults: 'each', seed: 5, of: 1_000, directory } as const;
    expect(await soakFaults({ ...options, invariants: [{ ...noSandbox, follow }] })).toBe(false);
    expect(readdirSync(directory)).toEqual(['soak-1.json']);
    const { story, error } = JSON.parse(readFileSync(join(directory, 'soak-1.json'), 'utf8'));
    expect(story).toMatchObject({ faults: [{ fault: expect.any(Object) }] });
    expect(error).toMatch(/^TypeError: of my own\n {4}at /);
  } finally {
    log.mockRestore();
    rmSync(directory, { recursive: true });
  }
  const failed = printed.filter((line) => line.includes('with ['));
  const [first = '', second = ''] = failed;
  expect(first).toMatch(/^'.*' with \[.*\]: the simulation cannot go on: TypeError: of my own\n/);
  expect(second).toMatch(/^'.*' with \[.*\]: the simulation cannot go on: of my own$/);
  expect(printed.filter((line) => line.startsWith('kept in '))).toHaveLength(1);
  expect(printed.filter((line) => line.startsWith('the same as in '))).toHaveLength(failed.length - 1);
  expect(printed.at(-1)).toMatch(new RegExp(`: ${failed.length} stories, .*, ${failed.length} broke an invariant$`));
}, 60_000);
