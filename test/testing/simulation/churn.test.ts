import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { runProgram } from '../../../host/program.ts';

/** 2,000 of them take some minutes: `node --expose-gc test/testing/simulation/churn.ts 2000`. */
const PODS = '75';

test('the maps and sets of an agent do not grow with the number of pods that have come and gone', async () => {
  const { signal } = new AbortController();
  const args = ['--expose-gc', '--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'churn.ts'), PODS];
  const told = JSON.parse(await runProgram(process.execPath, args, { signal, timeoutMs: 280_000 }));
  expect(told).toMatchObject({ left: 0, grown: [] });
  // Enough places that a difference would show.
  expect(told.places).toBeGreaterThan(40);
}, 300_000);
