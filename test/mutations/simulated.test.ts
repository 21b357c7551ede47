import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { seededFaults } from './simulated.ts';

const root = join(import.meta.dirname, '../..');

test('each fault that is seeded stands in the code that it changes, exactly once', () => {
  const misfits = seededFaults.filter(
    ({ file, find }) => readFileSync(join(root, file), 'utf8').split(find).length !== 2,
  );
  expect(misfits.map(({ name }) => name)).toEqual([]);
  expect(new Set(seededFaults.map(({ name }) => name)).size).toBe(seededFaults.length);
});

test('a simulation finds faults that are put into the node', () => {
  const said = execFileSync(process.execPath, ['scripts/soak.mjs', '--faulty', 'init', 'foreign-sandbox'], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(said).toMatch(/^init\tfound in .* story \d+, invariant 2: /m);
  expect(said).toMatch(/^foreign-sandbox\tfound in .* story \d+, invariant 5: /m);
  expect(said).toMatch(/^2 of 2 faults found$/m);
}, 120_000);
