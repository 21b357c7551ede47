/**
 * Evictions on a node that really runs short of resources. The files of the node are on a small ext4, the images and
 * writable layers are on a small tmpfs, and all pods together have little memory.
 */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import * as z from 'zod/mini';
import { BUSYBOX_IMAGE } from '../../cri/managed/images/images.ts';
import { clusterOf } from './support/cluster.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests } from './support/forAllTests.ts';
import { runNodeIn } from './support/node.ts';
import { statelet } from './support/statelet.ts';

const MIB = 2 ** 20;
const DISK_MIB = 64;
const INODES = 2_048;
/** Memory limit of all pods together. */
const PODS_MIB = 256;

const CONFIG = [
  `systemReserved: {memory: "${totalmem() - PODS_MIB * MIB}"}`,
  'evictionHard: {memory.available: 100Mi, nodefs.available: 10%, nodefs.inodesFree: 5%, imagefs.available: 15%}',
  'evictionPressureTransitionPeriod: 5s',
  'volumeStatsAggPeriod: 1s',
  'containerLogMaxSize: 1Gi',
];

/** Mounts the two disks. */
async function smallDisks() {
  const directory = await mkdtemp(join(tmpdir(), 'statelet-disks-'));
  const [image, nodeDisk, imageDisk] = ['node.img', 'node', 'images'].map((name) => join(directory, name));
  if (image === undefined || nodeDisk === undefined || imageDisk === undefined) throw new Error('unreachable');
  await Promise.all([nodeDisk, imageDisk].map((each) => mkdir(each)));
  const mounted: string[] = [];
  const mount = (path: string, ...args: string[]) => {
    execFileSync('mount', [...args, path]);
    mounted.push(path);
  };
  const end = async () => {
    for (const each of mounted) execFileSync('umount', ['-l', each]);
    await rm(directory, { recursive: true });
  };
  try {
    await writeFile(image, '');
    await truncate(image, DISK_MIB * MIB);
    execFileSync('mkfs.ext4', ['-q', '-F', '-m', '0', '-N', String(INODES), '-O', '^has_journal', image]);
    mount(nodeDisk, '-o', 'loop', image);
    mount(imageDisk, '-t', 'tmpfs', '-o', `size=${DISK_MIB}m`, 'tmpfs');
  } catch (error) {
    await end();
    throw error;
  }
  return { nodeDisk, imageDisk, end };
}

async function mountsBelow(directory: string): Promise<string[]> {
  const lines = (await readFile('/proc/self/mounts', 'utf8')).split('\n');
  return lines.map((line) => line.split(' ')[1] ?? '').filter((path) => path.startsWith(`${directory}/`));
}

const { server, node } = await forAllTests(async () => {
  const disks = await smallDisks();
  try {
    const cluster = await clusterOf(await runNodeIn(disks.nodeDisk, CONFIG, disks.imageDisk));
    const end = async () => {
      // The tmpfs volumes of the remaining pods stay mounted when the agent is killed.
      for (const each of await mountsBelow(disks.nodeDisk)) execFileSync('umount', ['-l', each]);
      await cluster.end().finally(disks.end);
    };
    return { ...cluster, end };
  } catch (error) {
    await disks.end();
    throw error;
  }
});

const PODS = '/api/v1/namespaces/default/pods';
const statusSchema = z.object({
  status: z.object({
    phase: z.optional(z.string()),
    reason: z.optional(z.string()),
    message: z.optional(z.string()),
    conditions: z.optional(z.array(z.object({ type: z.string(), status: z.string(), reason: z.optional(z.string()) }))),
  }),
});
const eventsSchema = z.object({
  items: z.array(
    z.object({
      reason: z.string(),
      message: z.string(),
      involvedObject: z.object({ name: z.optional(z.string()) }),
      metadata: z.object({ annotations: z.optional(z.record(z.string(), z.string())) }),
    }),
  ),
});
const statusAt = async (path: string) => z.parse(statusSchema, await server.request('GET', path)).status;
const conditionAt = async (path: string, wanted: string) =>
  (await statusAt(path)).conditions?.find(({ type }) => type === wanted);

const createPod = (name: string, script: string) =>
  server.request('POST', PODS, {
    metadata: { name },
    spec: {
      nodeName: 'node',
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 0,
      volumes: [
        { name: 'data', emptyDir: {} },
        // Two volumes are needed, because a single one cannot exceed the node's allocatable memory, which leaves as
        // much free as the threshold.
        { name: 'memory', emptyDir: { medium: 'Memory' } },
        { name: 'more', emptyDir: { medium: 'Memory' } },
      ],
      containers: [
        {
          name: 'main',
          image: BUSYBOX_IMAGE,
          imagePullPolicy: 'Never',
          command: ['sh', '-c', `${script}; sleep 1000000`],
          volumeMounts: [
            { name: 'data', mountPath: '/data' },
            { name: 'memory', mountPath: '/memory' },
            { name: 'more', mountPath: '/more' },
          ],
        },
      ],
    },
  });

const isReady = async (type: string) =>
  (await conditionAt('/api/v1/nodes/node', type))?.status === 'False' || undefined;
const write = (file: string, mebibytes: number) => `dd if=/dev/zero of=${file} bs=1M count=${mebibytes}`;

/** Waits until the node admits pods again, and starts a pod that uses very little. */
async function startIdlePod(name: string): Promise<void> {
  for (const type of ['DiskPressure', 'MemoryPressure']) await eventually(`no ${type}`, () => isReady(type));
  await createPod(name, ':');
  await eventually(`${name} runs`, async () => (await statusAt(`${PODS}/${name}`)).phase === 'Running' || undefined);
}

async function removePod(name: string): Promise<void> {
  await server.request('DELETE', `${PODS}/${name}`);
  await eventually(`${name} is gone`, () =>
    server.request('GET', `${PODS}/${name}`).then(
      () => undefined,
      () => true,
    ),
  );
}

let count = 0;

test.each([
  ['the files of its emptyDir', write('/data/file', 60), 'DiskPressure', 'ephemeral-storage'],
  ['the number of its files', 'cd /data && touch $(seq 2000)', 'DiskPressure', 'inodes'],
  ['its writable layer', write('/file', 50), 'DiskPressure', 'ephemeral-storage'],
  [
    'its log',
    'line=$(printf %08000d 0); for i in $(seq 7500); do echo $line; done',
    'DiskPressure',
    'ephemeral-storage',
  ],
  ['its memory', `${write('/memory/file', 95)}; ${write('/more/file', 95)}`, 'MemoryPressure', 'memory'],
])(
  'C28: a pod that uses up a resource of the node by %s is evicted, and an idle one is not',
  async (_, script, condition, resource) => {
    count += 1;
    const [idle, name] = [`idle-${count}`, `greedy-${count}`];
    await startIdlePod(idle);
    await createPod(name, script);
    const evicted = await eventually('the pod is evicted', async () => {
      const status = await statusAt(`${PODS}/${name}`);
      return status.phase === 'Failed' ? status : undefined;
    });
    // containerd frees the space of a removed container only later, and until then other pods are evicted.
    expect((await statusAt(`${PODS}/${idle}`)).phase).toBe('Running');
    expect(evicted.reason).toBe('Evicted');
    expect(evicted.message).toMatch(
      new RegExp(
        `^The node was low on resource: ${resource}\\. Threshold quantity: [0-9]+[a-zA-Z]*, available: [0-9]+[a-zA-Z]*\\. `,
      ),
    );
    expect(evicted.conditions).toContainEqual(
      expect.objectContaining({ type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet' }),
    );
    expect(await conditionAt('/api/v1/nodes/node', condition)).toMatchObject({ status: 'True' });
    const { items } = z.parse(eventsSchema, await server.request('GET', '/api/v1/namespaces/default/events'));
    const event = items.find(({ reason, involvedObject }) => reason === 'Evicted' && involvedObject.name === name);
    expect(event).toMatchObject({
      message: evicted.message,
      metadata: { annotations: { starved_resource: resource } },
    });
    for (const each of [name, idle]) await removePod(each);
  },
);

test('`explain node` says how much is left, below which amount it evicts, and which pod would be evicted next', async () => {
  await startIdlePod('idle');
  const { out } = await statelet('explain', 'node', '--root-dir', node.rootDir);
  // Strips the lines of the tree, which also interrupt wrapped text.
  const text = out.replaceAll(/[\s│├└─]+/g, ' ');
  expect(text).toMatch(/nodefs\.available: \d+\w* of \d+\w* left, evicts below 10% \(\d+[KM]i\)/);
  expect(text).toMatch(/the first pod to be evicted would be idle, because it uses \d+\w* of memory, /);
});
