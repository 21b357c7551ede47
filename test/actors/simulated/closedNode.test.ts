import { join } from 'node:path';
import { beforeAll, expect, jest, test } from '@jest/globals';
import { runProgram } from '../../../host/program.ts';

jest.setTimeout(120_000);

interface Result {
  readonly seen?: object;
  readonly errors: readonly string[];
  readonly reached: readonly string[];
}

/** The first function of the host that a node calls if it does not have the part. */
const LACKING = {
  clock: 'Date.now',
  files: 'fs.lstatSync',
  jitter: 'Math.random',
  mounter: 'fs/promises.lstat',
  network: 'net.connect',
  nextTurn: 'setImmediate',
  readImageDisk: 'setTimeout',
  redaction: 'crypto.randomBytes',
  startThread: 'fs.existsSync',
};

let results: Readonly<Record<string, Result>>;

beforeAll(async () => {
  const script = join(import.meta.dirname, 'closedNode.ts');
  const { signal } = new AbortController();
  const args = ['--disable-warning=ExperimentalWarning', script, ...Object.keys(LACKING)];
  // The program is part of the project, so the format of its output is known.
  results = JSON.parse(await runProgram(process.execPath, args, { signal, timeoutMs: 100_000 })) as typeof results;
});

test('a fully simulated node takes pods through their life without touching the host', () => {
  expect(results['']).toEqual({
    reached: [],
    errors: [],
    seen: {
      mounts: [
        '/root/pods/UID/volumes/kubernetes.io~empty-dir/memory',
        '/root/pods/UID/volumes/kubernetes.io~downward-api/labels',
        '/root/pods/UID/volume-subpaths/host/http/3',
      ],
      timersAfterStop: 0,
      explained: 3,
      left: { mounts: 0, cgroups: ['kubepods', 'kubepods/burstable', 'kubepods/besteffort'], timers: 0 },
    },
  });
});

test.each(Object.entries(LACKING))('a node without the simulated part %s calls %s of the host', (part, reached) => {
  expect(results[part]?.reached).toContain(reached);
});
