/** Durable state on a disk that is really full, namely a small tmpfs. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { simulatedNode } from '../fakes/node.ts';
import { containerWith, podWith } from '../fakes/pods.ts';
import { root } from '../support/root.ts';
import { eventually } from './support/eventually.ts';
import { startStatelet } from './support/statelet.ts';

/** Runs `act` while a tmpfs with these mount options is mounted at `mountPoint`. */
async function withDisk(mountPoint: string, options: string, act: () => Promise<void>): Promise<void> {
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', mountPoint]);
  try {
    await act();
  } finally {
    execFileSync('umount', ['-l', mountPoint]);
  }
}

function fill(file: string): void {
  for (const size of [4096, 1]) {
    try {
      for (;;) appendFileSync(file, Buffer.alloc(size));
    } catch (error) {
      expect(error).toMatchObject({ code: 'ENOSPC' });
    }
  }
}

test('C2: a pod that completed on a full disk does not run again, neither under the next agent nor without its sandbox', async () => {
  const once = podWith('once', { restartPolicy: 'Never', containers: [containerWith('main', { command: ['true'] })] });
  const node = await simulatedNode({ pods: [once] });
  const [statuses, filler] = [node.path('root/statelet/statuses'), node.path('root/statelet/statuses/filler')];
  await withDisk(statuses, 'size=64k', async () => {
    fill(filler);
    await node.advance('5s');
    expect(node.pod('once').phase).toBe('Succeeded');
    expect(node.errors.join()).toContain('ENOSPC');
    await node.restartAgent();
    await node.advance('5s');
    expect(node.pod('once').phase).toBe('Succeeded');
    expect(readdirSync(statuses)).toEqual(['filler']);
    rmSync(filler);
    await node.advance('20s');
    expect(readdirSync(statuses)).toEqual(['once-uid.json']);
    node.killAgent();
    for (const { id } of node.runtime.contents().sandboxes) node.runtime.removeSandbox(id);
    await node.startAgent();
    await node.advance('60s');
    expect(node.pod('once').phase).toBe('Succeeded');
    expect(node.calls('startContainer')).toHaveLength(1);
    node.remove('once');
    await node.advance('10s');
  });
});

test('output of a command to a file on a full disk is reported as lost', async () => {
  const mountPoint = mkdtempSync(join(tmpdir(), 'statelet-full-'));
  const program = join(root, 'cli/main.ts');
  await withDisk(mountPoint, 'size=4k', async () => {
    const file = openSync(join(mountPoint, 'charts'), 'w');
    const { status, stderr } = spawnSync(process.execPath, [program, 'charts'], { stdio: ['ignore', file, 'pipe'] });
    closeSync(file);
    expect({ status, said: stderr.toString() }).toEqual({
      status: 1,
      said: 'statelet: cannot write to standard output: no space left on device\n',
    });
  });
  rmSync(mountPoint, { recursive: true });
});

/**
 * Runs an agent with this root directory, which must exit at once, and returns its exit status and its lines on
 * standard error.
 */
function runAgent(rootDir: string) {
  const command = `exec ${process.execPath} cli/main.ts run --root-dir ${rootDir} --pod-log-dir ${rootDir}/logs`;
  const { status, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8', timeout: 30_000 });
  return { status, lines: stderr.trimEnd().split('\n') };
}

test('a root directory that cannot be created or written is reported in one sentence with exit code 1', async () => {
  expect(runAgent('/proc/none/root')).toEqual({
    status: 1,
    lines: [expect.stringMatching(/^statelet: \/proc\/none\/root\/agents cannot be used: ENOENT/)],
  });
  const directory = mkdtempSync(join(tmpdir(), 'statelet-readonly-'));
  await withDisk(directory, 'ro', async () => {
    expect(runAgent(join(directory, 'root'))).toEqual({
      status: 1,
      lines: [expect.stringMatching(/cannot be used: EROFS/)],
    });
  });
  rmSync(directory, { recursive: true });
});

test('events and `explain node` report facts that cannot be written, and events also report the recovery', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'statelet-full-'));
  const [root, pods] = [join(directory, 'root'), join(directory, 'pods')];
  const [facts, filler] = [join(root, 'statelet'), join(root, 'statelet/filler')];
  for (const each of [pods, facts]) mkdirSync(each, { recursive: true });
  const runCommand = async (...args: string[]) => {
    const process = startStatelet([...args, '--root-dir', root]);
    await process.ended;
    return process.out();
  };
  const events = () => runCommand('get', 'events', '-A');
  await withDisk(facts, 'size=64k', async () => {
    const daemon = startStatelet([
      'run',
      '--root-dir',
      root,
      '--pod-log-dir',
      join(directory, 'logs'),
      '--pod-manifest-path',
      pods,
      '--container-runtime-endpoint',
      `unix://${directory}/none.sock`,
    ]);
    try {
      await daemon.says('the node agent is running');
      expect(await runCommand('explain', 'node')).not.toContain('─ store');
      fill(filler);
      writeFileSync(join(pods, 'web.json'), JSON.stringify(podWith('web')));
      await eventually(
        'the event',
        async () => /Warning +StoreFailed +node\/.*ENOSPC/.test(await events()) || undefined,
      );
      expect(await runCommand('explain', 'node')).toMatch(
        /─ store +retrying.*\n.*waiting for the disk until .*\n.*ENOSPC/,
      );
      rmSync(filler);
      await eventually('the end of it', async () => /Normal +StoreRecovered/.test(await events()) || undefined);
      expect(await runCommand('explain', 'node')).not.toContain('─ store');
    } finally {
      daemon.kill('SIGTERM');
      await daemon.ended;
    }
  });
  rmSync(directory, { recursive: true });
}, 60_000);
