import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { seededFaults } from '../mutations/simulated.ts';

const soak = join(import.meta.dirname, '../../scripts/soak.mjs');

/** What does not find a fault that was put into the node on purpose would not find one that came by mistake either. */
test('a simulation finds each fault that is put into the node', () => {
  const { stdout } = spawnSync(process.execPath, [soak, '--faulty'], { encoding: 'utf8', timeout: 590_000 });
  const lines = stdout.trim().split('\n');
  expect(lines.slice(0, -1).filter((line) => !line.includes('\tfound in '))).toEqual([]);
  // By the rule that it breaks, and not by what comes of that.
  expect(stdout).toMatch(/^init\tfound in .* story \d+, invariant 2: /m);
  expect(stdout).toMatch(/^foreign-sandbox\tfound in .* story \d+, invariant 5: /m);
  expect(lines.at(-1)).toBe(`${seededFaults.length} of ${seededFaults.length} faults found`);
}, 600_000);
