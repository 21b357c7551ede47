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
