import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Invariant } from '../../../../testing/simulation/invariants/invariant.ts';
import { invariants as all } from '../../../../testing/simulation/invariants/invariants.ts';
import { type SoakOptions, soak } from '../../../../testing/simulation/soak/soak.ts';
import { storyOfAnySize } from '../../../../testing/simulation/stories/random/randomStory.ts';
import { noSandbox } from '../noSandbox.ts';

/** Runs a soak. Returns whether all invariants held, and the printed lines. */
async function soaked(options: SoakOptions) {
  const printed: string[] = [];
  const log = jest.spyOn(console, 'log').mockImplementation((line: string) => void printed.push(line));
  try {
    return { hasHeld: await soak(options), printed };
  } finally {
    log.mockRestore();
  }
}

afterEach(() => void jest.restoreAllMocks());

test('a soak reports its seeds and its result', async () => {
  // Each story takes six seconds, however fast the machine is.
  let stories = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => stories * 6_000);
  const follow: Invariant['follow'] = () => {
    stories += 1;
    return {};
  };
  const invariants = [...all, { ...noSandbox, follow }];
  const { hasHeld, printed } = await soaked({ minutes: 0.1, seed: 5, invariants });
  expect(hasHeld).toBe(true);
  expect(printed).toEqual([
    'seeds from 5',
    expect.stringMatching(
      /^1 stories, 1 of them replayed, \d+ steps, \d+ a second, \d+\.\d hours of node time, no violation with seeds 5 to 5$/,
    ),
  ]);
});

test('a soak that is stopped reports its progress', async () => {
  const asked = new AbortController();
  setImmediate(() => asked.abort('SIGINT'));
  const { hasHeld, printed } = await soaked({ minutes: 60, seed: 5, signal: asked.signal });
  expect(hasHeld).toBe(true);
  expect(printed.at(-1)).toMatch(/^0 stories, .*, no story told, stopped by SIGINT$/);
});

test('a soak that is stopped during a story reports no progress after its result', async () => {
  const asked = new AbortController();
  const storyEnded = Promise.withResolvers<void>();
  let now = 0;
  let quiet: NodeJS.Timeout | undefined;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  const follow: Invariant['follow'] = () => ({
    afterStep: () => {
      // The story takes an hour, and the soak is stopped during it.
      now = 3_600_000;
      asked.abort('SIGINT');
    },
    whole: () => {
      clearTimeout(quiet);
      quiet = setTimeout(storyEnded.resolve, 1_000);
    },
  });
  const lines: string[] = [];
  jest.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
  await soak({ minutes: 600, seed: 5, invariants: [{ ...noSandbox, follow }], signal: asked.signal });
  expect(lines.at(-1)).toMatch(/no story told, stopped by SIGINT$/);
  await storyEnded.promise;
  expect(lines.at(-1)).toMatch(/no story told, stopped by SIGINT$/);
});

test('a soak continues with the first seed after the last one', async () => {
  const asked = new AbortController();
  const hosts = new Set<unknown>();
  const follow: Invariant['follow'] = ({ host }) => {
    if (hosts.add(host).size === 3) asked.abort('SIGINT');
    return {};
  };
  const invariants = [{ ...noSandbox, follow }];
  const { printed } = await soaked({ minutes: 60, seed: 4_294_967_295, invariants, signal: asked.signal });
  expect(printed.at(-1)).toMatch(/^2 stories, .*, no violation with seeds 4294967295 to 0, stopped by SIGINT$/);
});

describe('a soak that finds a violation', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'statelet-soak-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  const options = () => ({ minutes: 1, seed: 5, invariants: [noSandbox], directory });

  test('reports it, and saves it in a new file', async () => {
    await writeFile(join(directory, 'soak-5.json'), "somebody else's");
    const { hasHeld, printed } = await soaked(options());
    expect(hasHeld).toBe(false);
    const [, first, shorter = '', kept, end] = printed;
    expect(first).toMatch(/^seed 5: invariant 5, step \d+, \d+ ms: a sandbox was made\n/);
    expect(shorter).toMatch(/\n {2}\d+ ms: apply\n {4}pod:\n {6}apiVersion: v1\n/);
    expect(Math.max(...shorter.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(100);
    const file = join(directory, 'soak-5-2.json');
    expect(kept).toBe(`kept in ${file}: \`createReplay\` plays the input and the entries of its recording`);
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ story: { seed: 5 }, recording: { input: {} } });
    expect(await readFile(join(directory, 'soak-5.json'), 'utf8')).toBe("somebody else's");
    expect(end).toMatch(/, an invariant was broken with seed 5$/);
  });

  test('reports it even if it cannot be saved', async () => {
    const { hasHeld, printed } = await soaked({ ...options(), directory: join(directory, 'nowhere') });
    expect(hasHeld).toBe(false);
    expect(printed.at(-2)).toMatch(/^it could not be kept in a file: ENOENT: /);
    expect(printed.at(-1)).toMatch(/, an invariant was broken with seed 5$/);
    expect(await readdir(directory)).toEqual([]);
  });

  test('saves the shortest story so far if it is stopped during the reduction', async () => {
    const asked = new AbortController();
    let stories = 0;
    const follow: Invariant['follow'] = (watched, violated) => {
      stories += 1;
      // One story has violated the invariant by then, it was replayed once, and shorter variants were tried.
      if (stories === 5) asked.abort('SIGINT');
      return noSandbox.follow(watched, violated);
    };
    const { hasHeld, printed } = await soaked({
      ...options(),
      invariants: [{ ...noSandbox, follow }],
      signal: asked.signal,
    });
    expect(hasHeld).toBe(false);
    expect(printed.at(-1)).toMatch(/, an invariant was broken with seed 5, stopped by SIGINT$/);
    const file = join(directory, 'soak-5.json');
    expect(printed.at(-2)).toBe(`kept in ${file}, without a recording`);
    const { story, number } = JSON.parse(await readFile(file, 'utf8'));
    const drawn = storyOfAnySize(5);
    expect(number).toBe(noSandbox.number);
    expect(story.actions.length + story.faults.length).toBeLessThan(drawn.actions.length + drawn.faults.length);
  });

  test('saves the original story if it is stopped at once', async () => {
    const asked = new AbortController();
    let stories = 0;
    const follow: Invariant['follow'] = (watched, violated) => {
      stories += 1;
      if (stories === 2) asked.abort('SIGTERM');
      return noSandbox.follow(watched, violated);
    };
    const given = { ...options(), invariants: [{ ...noSandbox, follow }], signal: asked.signal };
    const { printed } = await soaked(given);
    expect(printed.at(-1)).toMatch(/, stopped by SIGTERM$/);
    const { story } = JSON.parse(await readFile(join(directory, 'soak-5.json'), 'utf8'));
    expect(story).toEqual(JSON.parse(JSON.stringify(storyOfAnySize(5))));
  });

  test('reports and saves the seed with which the simulation itself failed', async () => {
    const follow = () => ({
      onCall: () => {
        throw new TypeError('of my own');
      },
    });
    const { hasHeld, printed } = await soaked({ ...options(), invariants: [{ ...noSandbox, follow }] });
    expect(hasHeld).toBe(false);
    const [, failed, kept, end] = printed;
    expect(failed).toMatch(/^seed 5: the simulation cannot go on: TypeError: of my own\n {4}at /);
    const file = join(directory, 'soak-5.json');
    expect(kept).toBe(`kept in ${file}`);
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ story: { seed: 5 } });
    expect(end).toMatch(/, the simulation could not go on with seed 5$/);
  });
});
