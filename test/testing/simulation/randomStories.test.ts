/** Stories that nobody has told before: each run of the tests draws others. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { root } from '../../support/root.ts';

/** About five seconds each. The last story is played to its end, and one that breaks an invariant is shrunk. */
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
    // What breaks an invariant is kept there, and told with its seed and its step.
    const cwd = await mkdtemp(join(tmpdir(), 'drawn-stories-'));
    // A process of its own, where a simulation takes less than in the context of a test.
    const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    child.stdout.on('data', (data) => {
      // At once: a process that crashes is to be told again, too.
      if (said === '') process.stderr.write(`drawn stories: ${data}`);
      said += data;
    });
    const [status] = await once(child, 'close');
    const [, first] = /^seeds from (\d+)\n/.exec(said) ?? [];
    const broken = /broken with seed (\d+)\n$/.exec(said)?.[1];
    if (status !== 0)
      throw new Error(
        `${said}kept in ${cwd}\ntell it again: npm run soak -- ${which.join('')} --seed ${broken ?? first}`,
      );
    expect(said).toContain(`no violation with seeds ${first} to `);
    await rm(cwd, { recursive: true });
  },
  LIMIT_MS,
);
