/** Access by other users to the private containerd of `up`: the modes of its files, and its listening sockets. */
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, jest, test } from '@jest/globals';
import { root } from '../support/root.ts';
import { podManifest, shell, steadily } from './support/manifests.ts';
import { type UpNode, upNode } from './support/node.ts';

jest.setTimeout(120_000);

const nodes: UpNode[] = [];
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.end();
});

/** Starts a node with a running pod, whose agent was started under this umask. */
async function nodeUnder(umask: string): Promise<UpNode> {
  const node = await upNode();
  nodes.push(node);
  const by = ['sh', '-c', `umask ${umask}; exec "$0" "$@"`, process.execPath, join(root, 'cli/main.ts')];
  await node.write('web', podManifest('web', [shell('main', steadily())]));
  await node.start({ by });
  await node.running('web');
  return node;
}

const IDS = /(?<=cni-)[0-9a-f-]{36}|(?<=statelet-)[0-9a-f]{12}|[0-9a-f]{64}|[0-9a-f]{32}|\d+/g;
/** Directories whose contents belong to images or pods. */
const OF_PODS = /\/(fs|work|rootfs|shm)\//;

/**
 * Returns the modes of all files below a directory, with the IDs that differ between two runs replaced in the paths.
 */
async function modesBelow(directory: string): Promise<{ path: string; mode: number }[]> {
  const paths = (await readdir(directory, { recursive: true })).filter((path) => !OF_PODS.test(`${path}/`));
  const found = await Promise.all(
    paths.map(async (path) => {
      const stats = await lstat(join(directory, path)).catch(() => undefined);
      return stats && !stats.isSymbolicLink() ? [{ path: path.replace(IDS, 'N'), mode: stats.mode & 0o7777 }] : [];
    }),
  );
  return found.flat();
}

const listed = (modes: Awaited<ReturnType<typeof modesBelow>>): string[] =>
  [...new Set(modes.map(({ path, mode }) => `${mode.toString(8)} ${path}`))].sort();

test('files of the private containerd have fixed modes whatever the umask, and other users can write none of them', async () => {
  const [open, closed] = [await nodeUnder('000'), await nodeUnder('077')];
  const [one, other] = [await modesBelow(open.containerdDirectory), await modesBelow(closed.containerdDirectory)];
  expect(one.length).toBeGreaterThan(50);
  expect(listed(one)).toEqual(listed(other));
  expect(listed(one.filter(({ mode }) => (mode & 0o002) !== 0))).toEqual([]);
});

test('the streaming server of the private containerd listens only on loopback, at a port assigned by the kernel', async () => {
  const node = await nodeUnder('022');
  const pid = (await readFile(join(node.containerdDirectory, 'containerd.pid'), 'utf8')).trim();
  const descriptors = await readdir(`/proc/${pid}/fd`);
  const open = await Promise.all(descriptors.map((each) => readlink(`/proc/${pid}/fd/${each}`).catch(() => '')));
  const inodes = new Set(open.flatMap((each) => /^socket:\[(\d+)\]$/.exec(each)?.[1] ?? []));
  const tables = await Promise.all(['tcp', 'tcp6'].map((table) => readFile(`/proc/${pid}/net/${table}`, 'utf8')));
  const LISTENS = '0A';
  const listening = tables.flatMap((table) =>
    table.split('\n').flatMap((line) => {
      const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
      return state === LISTENS && inodes.has(inode) ? [local.split(':')[0]] : [];
    }),
  );
  // 127.0.0.1 in the kernel's notation.
  expect(listening).toEqual(['0100007F']);
  const config = await readFile(join(node.containerdDirectory, 'config.toml'), 'utf8');
  expect(config).toContain('stream_server_address = "127.0.0.1"\n  stream_server_port = "0"\n');
});
