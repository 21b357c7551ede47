import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { runProgram } from '../../../host/program.ts';

/** 75 pods keep the test short. `node --expose-gc test/testing/simulation/churn.ts 2000` takes a few minutes. */
const PODS = '75';

test('the maps and sets of an agent do not grow with the number of pods that have come and gone', async () => {
  const { signal } = new AbortController();
  const args = ['--expose-gc', '--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'churn.ts'), PODS];
  const result = JSON.parse(await runProgram(process.execPath, args, { signal, timeoutMs: 280_000 }));
  expect(result).toMatchObject({ left: 0, grown: [] });
  // Ensures that enough collections are tracked for a leak to show.
  expect(result.places).toBeGreaterThan(40);
}, 300_000);
