import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Random } from '../../../testing/simulation/random.ts';
import { seededFaults } from '../../mutations/simulated.ts';
import { root } from '../../support/root.ts';

const soak = join(root, 'scripts/soak.mjs');

/** Each of these has to be found by the rule that it breaks, and not by what comes of that. */
const BY_RULE = { init: 2, 'foreign-sandbox': 5 };
/** The number of further seeded faults that a run of the tests draws. `npm run soak -- --faulty` tries all of them. */
const DRAWN = 3;

/** What does not find a fault that was put into the node on purpose would not find one that came by mistake either. */
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
