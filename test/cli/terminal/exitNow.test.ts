/** The exit of a process while a disk operation hangs. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { eventually } from '../../e2e/support/eventually.ts';
import { packageNode, startStatelet } from '../../e2e/support/statelet.ts';
import { root } from '../../support/root.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'statelet-exit-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Creates a FIFO. Opening it blocks forever, because no process opens the other end. */
const pipe = (path: string) => execFileSync('mkfifo', [path]);

test('exitNow uses the exit code, and notifies exit listeners', async () => {
  const path = join(directory, 'pipe');
  pipe(path);
  const script = `
    import { open } from 'node:fs/promises';
    import { exitNow } from ${JSON.stringify(join(root, 'cli/terminal/exitNow.ts'))};
    process.on('exit', (code) => console.log('ends with', code));
    void open(${JSON.stringify(path)});
    setTimeout(() => exitNow(3), 50);`;
  const { ended, out } = startStatelet(['--input-type=module', '--eval', script], { by: [packageNode[0]] });
  expect(await ended).toBe(3);
  expect(out()).toBe('ends with 3\n');
});

test('a daemon whose state cannot be saved exits when it receives a signal', async () => {
  const [pods, facts] = [join(directory, 'pods'), join(directory, 'root/statelet/manifests')];
  const manifest = (image: string) =>
    `apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: ${image}}]}\n`;
  mkdirSync(pods);
  writeFileSync(join(pods, 'a.yaml'), manifest('first'));
  const places = ['--root-dir', join(directory, 'root'), '--pod-log-dir', join(directory, 'logs')];
  const nowhere = ['--container-runtime-endpoint', `unix://${directory}/none.sock`];
  const by = ['timeout', '--signal=KILL', '60', ...packageNode];
  const daemon = startStatelet(['run', ...places, ...nowhere, '--pod-manifest-path', pods], { by });
  await daemon.says('pod a-');
  await daemon.says('the node agent is running');
  // The pod continues to run while its manifest is being saved.
  const file = await eventually('the manifest is saved', async () =>
    readdirSync(facts).find((name) => name.endsWith('.json')),
  );
  for (const attempt of ['', '.1']) pipe(join(facts, `${file}${attempt}.tmp`));
  writeFileSync(join(pods, 'a.yaml'), manifest('second'));
  await daemon.says('was not written within 2s');
  daemon.kill('SIGTERM');
  expect(await daemon.ended).toBe(0);
});
