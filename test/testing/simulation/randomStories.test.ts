/** Stories that were never played before: each test run draws different ones. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { root } from '../../support/root.ts';

/**
 * Minutes per soak, about five seconds. The last story is played to its end, and a story that violates an invariant is
 * shrunk.
 */
const MINUTES = '0.08';
const LIMIT_MS = 600_000;

test.each([
  ['', []],
  [' of nodes of a cluster', ['--cluster']],
])(
  'every invariant holds in random stories%s with a new seed',
  async (_, which) => {
    const soak = join(root, 'scripts/soak.mjs');
    const args = [
      '--max-semi-space-size=32',
      '--disable-warning=ExperimentalWarning',
      soak,
      ...which,
      '--minutes',
      MINUTES,
    ];
    // The soak saves a violation in its working directory, and prints its seed and its step.
    const cwd = await mkdtemp(join(tmpdir(), 'drawn-stories-'));
    // Run as a separate process, because a simulation is faster outside Jest's context.
    const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (data) => {
      // Print the seed immediately, so that a run that crashes can be repeated as well.
      if (output === '') process.stderr.write(`drawn stories: ${data}`);
      output += data;
    });
    const [status] = await once(child, 'close');
    const [, first] = /^seeds from (\d+)\n/.exec(output) ?? [];
    const broken = /broken with seed (\d+)\n$/.exec(output)?.[1];
    if (status !== 0)
      throw new Error(
        `${output}kept in ${cwd}\ntell it again: npm run soak -- ${which.join('')} --seed ${broken ?? first}`,
      );
    expect(output).toContain(`no violation with seeds ${first} to `);
    await rm(cwd, { recursive: true });
  },
  LIMIT_MS,
);
