/**
 * Pods of a different kubelet in the root directory, on a real containerd. They are left alone, listed, or taken over.
 */
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { readHierarchies } from '../../host/cgroup/hierarchies.ts';
import { listMountsUnder } from '../../host/files/mountinfo.ts';
import { agentClient } from '../../socket/client.ts';
import { socketPath } from '../../socket/socketPath.ts';
import { mount, unmount } from '../../volume/mount/mount.ts';
import { noAbort } from './support/containerd.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests } from './support/forAllTests.ts';
import { podManifest, shell, steadily } from './support/manifests.ts';
import { runNode } from './support/node.ts';
import { runRawPod } from './support/rawPod.ts';
import { statelet } from './support/statelet.ts';

const run = promisify(execFile);
const node = await forAllTests(async () => {
  const made = await runNode();
  const end = async () => {
    for (const { path } of await listMountsUnder(made.rootDir, noAbort)) await unmount(path, noAbort);
    await made.end();
  };
  return { ...made, end };
});
const { cgroupParent, endpoint } = node.runtime.containerd;
const cgroupOf = (uid: string) => `${cgroupParent}/kubepods/besteffort/pod${uid}`;

/**
 * Creates everything that the kubelet has of a pod, including a tmpfs volume. Without `sandbox`, its sandbox is assumed
 * to be in a different runtime.
 */
async function kubeletsPod(uid: string, name: string, { sandbox = true } = {}): Promise<void> {
  const directory = join(node.rootDir, 'pods', uid);
  const memory = join(directory, 'volumes', 'kubernetes.io~empty-dir', 'memory');
  const disk = join(directory, 'volumes', 'kubernetes.io~empty-dir', 'disk');
  const logs = join(node.podLogs, `default_${name}_${uid}`, 'main');
  for (const each of [memory, disk, logs]) await mkdir(each, { recursive: true });
  await mount({ source: 'tmpfs', target: memory, type: 'tmpfs', options: [], signal: noAbort });
  for (const file of [join(memory, 'file'), join(disk, 'file'), join(logs, '0.log')]) await writeFile(file, uid);
  if (!sandbox) return;
  const labels = {
    'io.kubernetes.pod.name': name,
    'io.kubernetes.pod.namespace': 'default',
    'io.kubernetes.pod.uid': uid,
  };
  await runRawPod(node.runtime.cri, { name, uid, labels, cgroupParent: cgroupOf(uid), command: ['sleep', '1000000'] });
}

/** Returns a cgroup and the cgroups below it, each with its processes. */
async function cgroupsBelow(directory: string): Promise<string[]> {
  const names = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const inner = names.filter((each) => each.isDirectory()).map(({ name }) => join(directory, name));
  const processes = await readFile(join(directory, 'cgroup.procs'), 'utf8').catch(() => 'none');
  return [`${directory}: ${processes}`, ...(await Promise.all(inner.map(cgroupsBelow))).flat()];
}

/** Returns the files of a cgroup, which show its controllers, and the values of those with limits. */
async function limitsOf(directory: string): Promise<string[]> {
  const files = (await readdir(directory, { withFileTypes: true }).catch(() => [])).filter((each) => each.isFile());
  const isLimit =
    /^(cpu\.(shares|cfs_quota_us|weight|max)|memory\.(limit_in_bytes|max)|pids\.max|cgroup\.subtree_control)$|^hugetlb\..*(max|limit_in_bytes)$/;
  const lines = files.map(async ({ name }) => {
    const text = isLimit.test(name) ? await readFile(join(directory, name), 'utf8') : '';
    return `${directory}/${name} ${text.trim()}`;
  });
  return (await Promise.all(lines)).sort();
}

/**
 * Returns the complete state of these pods: the contents and times of their files and logs, and their mounts, cgroups
 * and sandboxes.
 */
async function stateOf(uids: readonly string[]) {
  const hierarchies = await readHierarchies();
  const { items } = await node.runtime.cri.listPodSandbox({ filter: undefined }, { signal: noAbort });
  const { containers } = await node.runtime.cri.listContainers({ filter: undefined }, { signal: noAbort });
  const logs = (await readdir(node.podLogs)).filter((name) => uids.some((uid) => name.includes(uid)));
  const roots = [
    ...uids.map((uid) => join(node.rootDir, 'pods', uid)),
    ...logs.map((name) => join(node.podLogs, name)),
  ];
  const { stdout: files } = await run('find', [...roots, '-printf', '%p %y %m %U %G %s %T@ %C@ %i\n']);
  const { stdout: sums } = await run('find', [...roots, '-type', 'f', '-exec', 'cat', '{}', '+']);
  const cgroups = await Promise.all(
    uids.flatMap((uid) => hierarchies.map(({ root }) => cgroupsBelow(join(root, cgroupOf(uid))))),
  );
  const shared = ['', '/kubepods', '/kubepods/besteffort'].map((name) => `${cgroupParent}${name}`);
  const limited = [...shared, ...uids.map(cgroupOf)];
  const limits = await Promise.all(
    limited.flatMap((path) => hierarchies.map(({ root }) => limitsOf(join(root, path)))),
  );
  return {
    limits: limits.flat(),
    files: files.split('\n').sort(),
    sums,
    mounts: (await listMountsUnder(node.rootDir, noAbort)).map(({ path }) => path),
    cgroups,
    sandboxes: items.filter(({ metadata }) => uids.includes(metadata?.uid ?? '')).map(({ id, state }) => [id, state]),
    containers: containers
      .filter(({ labels }) => uids.includes(labels['io.kubernetes.pod.uid'] ?? ''))
      .map(({ id, state }) => [id, state]),
  };
}

const theirs = ['their-uid', 'dead_uid'];
const listed = () => [
  'run',
  '--take-over=list',
  '--root-dir',
  node.rootDir,
  '--pod-log-dir',
  node.podLogs,
  '--container-runtime-endpoint',
  endpoint,
  '--hostname-override',
  'node',
];

test('an agent that starts, runs pods and stops leaves the pods of another kubelet unchanged, and lists them', async () => {
  await kubeletsPod('their-uid', 'theirs');
  await kubeletsPod('dead_uid', 'dead', { sandbox: false });
  const before = await stateOf(theirs);
  await node.write('web', podManifest('web', [shell('main', steadily())]));
  const agent = await node.start();
  const { uid } = (await node.running('web')).metadata;
  const [cpu] = (await readHierarchies()).filter(({ controllers }) => controllers.includes('cpu'));
  expect(await readdir(join(cpu?.root ?? '', cgroupOf(uid)))).toContain('cgroup.procs');
  await eventually('they are listed', async () => {
    const text = await agentClient(socketPath(node.rootDir)).text('/explain/node');
    return text.includes('default/theirs (their-uid)') && text.includes('default/dead (dead_uid)');
  });
  const explained = (await agentClient(socketPath(node.rootDir)).text('/explain/node')).replace(/[\s│]+/g, ' ');
  expect(explained).toContain(`${cgroupParent}/kubepods contains the cgroup of a pod (${cgroupOf('their-uid')})`);
  expect(explained).toContain('cgroupRoot');
  expect(await stateOf(theirs)).toMatchObject({ limits: before.limits });
  await node.remove('web');
  await node.gone('web');
  agent.kill('SIGTERM');
  expect(await agent.ended).toBe(0);
  expect(await stateOf(theirs)).toEqual(before);
});

test('--take-over=list prints what would be terminated, exits with 0 and changes nothing', async () => {
  const before = await stateOf(theirs);
  const { code, out } = await statelet(...listed());
  expect(code).toBe(0);
  expect(out).toContain(`2 pods below ${node.rootDir} would be taken over.`);
  expect(out).toMatch(/default\/theirs \(their-uid\)\n(.*\n)*? {2}sandboxes +1, with 1 running container\n/);
  for (const uid of theirs)
    expect(out).toContain(join(node.rootDir, 'pods', uid, 'volumes', 'kubernetes.io~empty-dir'));
  expect(out).not.toContain('refused');
  expect(await stateOf(theirs)).toEqual(before);
});

test('--take-over=now changes nothing while a pod is running that this runtime does not know', async () => {
  const { cri } = node.runtime;
  const elsewhere = await runRawPod(cri, {
    name: 'elsewhere',
    uid: 'other',
    labels: {},
    cgroupParent: cgroupOf('else-uid'),
    command: ['sleep', '1000000'],
  });
  await kubeletsPod('else-uid', 'elsewhere', { sandbox: false });
  const before = await stateOf([...theirs, 'else-uid']);
  const { code, err } = await statelet(...listed().map((arg) => arg.replace('=list', '=now')));
  expect(code).toBe(1);
  expect(err).toMatch(
    /nothing was taken over: default\/elsewhere \(else-uid\): \d+ processes in its cgroup, but no sandbox on unix/,
  );
  expect(await stateOf([...theirs, 'else-uid'])).toEqual(before);
  await cri.removePodSandbox({ podSandboxId: elsewhere.sandboxId }, { signal: noAbort });
});

test('--take-over=now terminates the foreign pods with their sandboxes, mounts, directories, logs and cgroups', async () => {
  const agent = await node.start({ args: ['--take-over=now'] });
  const all = [...theirs, 'else-uid'];
  await eventually('nothing is left of them', async () => {
    const pods = await readdir(join(node.rootDir, 'pods'));
    const logs = await readdir(node.podLogs);
    return !all.some((uid) => pods.includes(uid) || logs.some((name) => name.includes(uid)));
  });
  expect(await readFile('/proc/self/mountinfo', 'utf8')).not.toContain(`${node.rootDir}/pods`);
  const { items } = await node.runtime.cri.listPodSandbox({ filter: undefined }, { signal: noAbort });
  expect(items).toEqual([]);
  for (const { root } of await readHierarchies()) {
    const names = await readdir(join(root, cgroupOf('x'), '..')).catch(() => []);
    expect(names.filter((name) => name.startsWith('pod'))).toEqual([]);
  }
  agent.kill('SIGTERM');
  expect(await agent.ended).toBe(0);
});
