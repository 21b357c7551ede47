import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, jest } from '@jest/globals';
import { listMountsUnder } from '../../host/files/mountinfo.ts';
import type { Layout } from '../../host/pods/layout.ts';
import { runProgram } from '../../host/program.ts';
import { runInVolumes } from '../../volume/inVolumes.ts';
import { hostMounter as mounter } from '../../volume/mount/hostMounter.ts';
import { removeSubPaths } from '../../volume/mount/removeSubPaths.ts';
import { emptyDirPlugin } from '../../volume/plugins/emptyDir.ts';
import { hostPathPlugin } from '../../volume/plugins/hostPath.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { type HangingVolume, hangingVolume } from '../support/hangingVolume.ts';
import { root } from '../support/root.ts';
import { inFolder, requestOf, signal, withRoot } from './onDisk.ts';

jest.setTimeout(60_000);

/** Exceeds the number of threads that Node.js has for file system calls, each of which a hanging call would block. */
const MANY = 6;

interface Place {
  readonly hanging: HangingVolume;
  readonly folder: string;
  readonly layout: Layout;
}

/** Defines a test with a volume that never responds. */
function withHanging(name: string, story: (place: Place) => Promise<void>): void {
  withRoot(name, () =>
    inFolder(async (folder, layout) => {
      const hanging = await hangingVolume(path.join(folder, 'hanging'));
      try {
        await story({ hanging, folder, layout });
      } finally {
        await hanging.end();
      }
    }),
  );
}

/** Starts calls on a hanging volume. The calls fail once they are aborted. */
function startCalls(call: (abort: AbortSignal) => Promise<unknown>) {
  const abort = new AbortController();
  const calls = Array.from({ length: MANY }, () => call(abort.signal));
  return {
    giveUp: async () => {
      abort.abort(new Error('given up'));
      for (const each of calls) await expect(each).rejects.toThrow('given up');
    },
  };
}

withHanging('hanging paths block no other volume and no file of the agent', async (place) => {
  const { hanging, folder, layout } = place;
  const volume = {
    name: 'data',
    hostPath: { path: path.join(hanging.directory, 'inside'), type: 'Directory' as const },
  };
  const { giveUp } = startCalls((abort) => hostPathPlugin.mount({ ...requestOf(layout, volume), signal: abort }));
  await eventually('they look', async () => (await hanging.lookers()) === MANY);

  const other = { name: 'other', hostPath: { path: folder, type: 'Directory' as const } };
  await hostPathPlugin.mount(requestOf(layout, other));
  expect(await readFile(import.meta.filename, 'utf8')).toContain('no file of the agent');
  await giveUp();
  await eventually('nobody looks', async () => (await hanging.lookers()) === 0);
});

withHanging('hanging subpaths of volumes, and files in them, block nothing else', async (place) => {
  const { hanging, folder, layout } = place;
  const hostPath = hanging.directory;
  const target = (of: string) => layout.subPathDir('u1', of, 'main', 0);
  const bind = startCalls((abort) =>
    runInVolumes([{ kind: 'bind', hostPath, subPath: 'a', target: target('hung') }], abort),
  );
  const read = startCalls((abort) => runInVolumes([{ kind: 'read', hostPath, path: 'a', maxBytes: 9 }], abort));

  await mkdir(path.join(folder, 'other', 'a'), { recursive: true });
  const other = { hostPath: path.join(folder, 'other'), subPath: 'a', target: target('other') };
  expect(await runInVolumes([{ kind: 'bind', ...other }], signal)).toEqual([{}]);
  expect((await listMountsUnder(layout.podsDir, signal)).map((mount) => mount.path)).toEqual([target('other')]);
  await Promise.all([bind.giveUp(), read.giveUp()]);
});

withHanging('only later calls on the same path wait for a call that no signal can end', async (place) => {
  const { hanging, folder, layout } = place;
  const mount = (target: string, abort: AbortSignal) => {
    const volume = { name: 'data', hostPath: { path: target, type: 'Directory' as const } };
    return hostPathPlugin.mount({ ...requestOf(layout, volume), signal: abort });
  };
  const first = new AbortController();
  const hung = mount(hanging.directory, first.signal);
  await hanging.swallow();
  first.abort(new Error('given up'));
  await expect(hung).rejects.toThrow('given up');

  const second = startCalls((abort) => mount(hanging.directory, abort));
  await mount(folder, signal);
  expect(await hanging.lookers()).toBe(1);
  await second.giveUp();

  // Starting a new helper process would fail now, so a hung volume must be reported without one.
  const { execPath } = process;
  process.execPath = path.join(folder, 'none');
  const task = { kind: 'read', hostPath: hanging.directory, path: 'a', maxBytes: 9 } as const;
  const third = startCalls((abort) => runInVolumes([task], abort));
  await mount(folder, signal);
  await third.giveUp();
  process.execPath = execPath;
});

withHanging('a hanging subpath of a volume is unmounted', async ({ hanging, layout }) => {
  const target = layout.subPathDir('u1', 'data', 'main', 0);
  await mkdir(target, { recursive: true });
  const args = ['--no-canonicalize', '--bind', '--', hanging.directory, target];
  await runProgram('mount', args, { signal, timeoutMs: 10_000 });
  await removeSubPaths({ layout, mounter, signal }, { podUid: 'u1' });
  expect(await listMountsUnder(layout.podsDir, signal)).toEqual([]);
});

withHanging('an emptyDir on which others mounted a hanging file system stays, with an error', async (place) => {
  const { hanging, layout } = place;
  const volume = { name: 'data', emptyDir: {} };
  const { hostPath } = await emptyDirPlugin.mount(requestOf(layout, volume));
  const args = ['--no-canonicalize', '--bind', '--', hanging.directory, hostPath];
  await runProgram('mount', args, { signal, timeoutMs: 10_000 });
  const unmount = () => emptyDirPlugin.unmount({ podUid: 'u1', volumeName: 'data', layout, mounter, signal });
  await expect(unmount()).rejects.toThrow(`still mounted: ${hostPath}`);
  await expect(emptyDirPlugin.mount(requestOf(layout, volume))).rejects.toThrow(
    'is already a mount point of type fuse',
  );
});

withHanging('paths are compared without accessing a hanging file system', async ({ hanging, folder }) => {
  const module = path.join(root, 'host', 'files', 'withoutLinks.ts');
  const paths = [path.join(hanging.directory, 'root'), path.join(folder, 'root')].map((each) => JSON.stringify(each));
  const script = `import { isSamePath } from ${JSON.stringify(module)}; console.log(isSamePath(${paths.join(', ')}))`;
  const args = ['--input-type=module', '-e', script];
  expect(await runProgram(process.execPath, args, { signal, timeoutMs: 20_000 })).toBe('false\n');
});
