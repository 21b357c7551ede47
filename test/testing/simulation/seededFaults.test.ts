import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Random } from '../../../testing/simulation/random.ts';
import { seededFaults } from '../../mutations/simulated.ts';
import { root } from '../../support/root.ts';

const soak = join(root, 'scripts/soak.mjs');

/**
 * Numbers of the invariants that must detect these faults, because they state the violated rule and not a consequence
 * of it.
 */
const BY_RULE = { init: 2, 'foreign-sandbox': 5 };
/** Number of further seeded faults that each test run draws. `npm run soak -- --faulty` tries all of them. */
const DRAWN = 3;

/** A simulation that misses a deliberate fault would miss an accidental one as well. */
test('a simulation detects the faults that are seeded into the node', () => {
  const others = seededFaults.map(({ name }) => name).filter((name) => !(name in BY_RULE));
  const random = new Random(Math.floor(Math.random() * 2 ** 31));
  const names = [...Object.keys(BY_RULE), ...random.sample(others, DRAWN)];
  const { stdout } = spawnSync(process.execPath, [soak, '--faulty', ...names], { encoding: 'utf8', timeout: 590_000 });
  const lines = stdout.trim().split('\n');
  expect(lines.slice(0, -1).filter((line) => !line.includes('\tfound in '))).toEqual([]);
  for (const [name, number] of Object.entries(BY_RULE))
    expect(stdout).toMatch(new RegExp(`^${name}\tfound in .* story \\d+, invariant ${number}: `, 'm'));
  expect(lines.at(-1)).toBe(`${names.length} of ${names.length} faults found`);
}, 600_000);
