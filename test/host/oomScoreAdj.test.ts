import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { applyOomScoreAdj } from '../../host/oomScoreAdj.ts';

const directory = await mkdtemp(join(tmpdir(), 'statelet-oom-'));
afterAll(() => rm(directory, { recursive: true }));

test('the agent sets its oom_score_adj', async () => {
  const path = join(directory, 'oom_score_adj');
  await writeFile(path, '0\n');
  expect(await applyOomScoreAdj(-999, path)).toBeUndefined();
  expect(await readFile(path, 'utf8')).toMatch(/^-999/);
});

test('an agent without permission reports the current value and continues', async () => {
  expect(await applyOomScoreAdj(-999, directory)).toMatch(
    /^the agent's oom_score_adj stays unknown, because it cannot be set to -999 \(this needs CAP_SYS_RESOURCE\): EISDIR/,
  );
});

test('the kernel accepts the value for this process', async () => {
  const before = Number(await readFile('/proc/self/oom_score_adj', 'utf8'));
  // Raising it needs no capability.
  expect(await applyOomScoreAdj(Math.max(before, 1))).toBeUndefined();
  expect(Number(await readFile('/proc/self/oom_score_adj', 'utf8'))).toBe(Math.max(before, 1));
});
