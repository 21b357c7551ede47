import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { root } from '../support/root.ts';
import { seededFaults } from './simulated.ts';

test('each seeded fault matches the code that it changes exactly once', () => {
  const misfits = seededFaults.filter(
    ({ file, find }) => readFileSync(join(root, file), 'utf8').split(find).length !== 2,
  );
  expect(misfits.map(({ name }) => name)).toEqual([]);
  expect(new Set(seededFaults.map(({ name }) => name)).size).toBe(seededFaults.length);
});
