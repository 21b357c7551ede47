/** Pod features that only containerd 2 supports. On each runtime, a pod either runs with the feature or is rejected. */
import { execFile } from 'node:child_process';
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { run } from '../../cri/managed/program.ts';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { PodSpec } from '../../kubernetes/api/schema/pod.ts';
import { testCluster } from './support/cluster.ts';
import { noAbort } from './support/containerd.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests } from './support/forAllTests.ts';
import { Kubectl } from './support/kubectl.ts';
import { podManifest, shell, steadily } from './support/manifests.ts';
import { containerOf } from './support/node.ts';
import { isContainerd2 } from './support/runtimes.ts';

const cluster = await forAllTests(() => testCluster());
const { node } = cluster;
const kubectl = new Kubectl('sid', { kubeconfig: cluster.kubeconfig, directory: node.directory });

// The agent serves its socket before it has registered the Node.
beforeAll(async () => {
  await eventually('the Node is ready', () => kubectl.run('wait', '--for=condition=Ready', 'node/node'));
});

const END = 'end of output';

/** A container that runs until its pod is removed, after it has printed the output of a script. */
const printing = (name: string, script: string, more: Partial<Container> = {}): Container =>
  shell(name, steadily(`{ ${script}; } 2>&1; echo ${END}`), more);

/** Runs a pod, and returns the lines of each of its containers by name. */
async function outputOf(
  name: string,
  containers: readonly Container[],
  spec: Partial<PodSpec> = {},
): Promise<Record<string, string[]>> {
  await node.write(name, podManifest(name, containers, spec));
  const pod = await node.running(name);
  const logs = containers.map(async (each) => [each.name, await node.log(pod, each.name, END)] as const);
  return Object.fromEntries(await Promise.all(logs));
}

async function readCounter(name: string): Promise<number> {
  const metrics = await kubectl.run('get', '--raw', '/api/v1/nodes/node/proxy/metrics');
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(metrics)?.[1]);
}

test('the programs of the runtime are those of the project', async () => {
  const [containerd, runc] = await Promise.all([
    kubectl.run('get', 'node', 'node', '-o', 'jsonpath={.status.nodeInfo.containerRuntimeVersion}'),
    run('runc', ['--version'], { signal: noAbort }),
  ]);
  expect(containerd).toMatch(isContainerd2 ? /^containerd:\/\/v?2\./ : /^containerd:\/\/v?1\./);
  expect(runc).toMatch(isContainerd2 ? /^runc version 1\.[3-9]/ : /^runc version 1\.[01]/);
});

test('the Node shows the features of the runtime', async () => {
  const { status } = JSON.parse(await kubectl.run('get', 'node', 'node', '-o', 'json'));
  const features = { recursiveReadOnlyMounts: true, userNamespaces: true };
  const handlers = [
    { name: '', features },
    { name: 'runc', features },
  ];
  expect(status.runtimeHandlers).toEqual(isContainerd2 ? expect.arrayContaining(handlers) : undefined);
});

describe('C46: a pod with hostUsers: false', () => {
  const own = { hostUsers: false };

  if (isContainerd2) {
    /** Prints the first user ID in the container, the host's ID for it, and the number of IDs. */
    const MAP = "awk '{ print $1, $2, $3 }' /proc/self/uid_map";

    test('has user IDs that neither the host nor another pod has', async () => {
      const maps = await Promise.all([
        outputOf('first', [printing('main', MAP)], own),
        outputOf('second', [printing('main', MAP)], own),
        outputOf('shared', [printing('main', MAP)]),
      ]);
      const [first, second, shared] = maps.map(({ main }) => main?.join());
      expect([first, second].toSorted()).toEqual(['0 131072 65536', '0 65536 65536']);
      expect(shared).toBe('0 0 4294967295');
      expect(await kubectl.run('exec', 'first-node', '--', 'cat', '/proc/self/uid_map')).toMatch(
        new RegExp(`^\\s*${first?.replaceAll(' ', '\\s+')}\\n$`),
      );
    });

    test('owns the files of its volumes under the same IDs in the container and on the disk', async () => {
      const volumeMounts = [
        { name: 'data', mountPath: '/data' },
        { name: 'shared', mountPath: '/shared' },
      ];
      const create = (file: string) => `touch ${file}; stat -c '%u %g' ${file}`;
      const hostPath = join(node.shared, 'owned');
      await mkdir(hostPath);
      const { root, user } = await outputOf(
        'owner',
        [
          printing('root', `${create('/data/of-root')}; ${create('/shared/of-root')}`, { volumeMounts }),
          printing('user', create('/data/of-user'), { volumeMounts, securityContext: { runAsUser: 1000 } }),
        ],
        {
          ...own,
          securityContext: { fsGroup: 2000 },
          volumes: [
            { name: 'data', emptyDir: {} },
            { name: 'shared', hostPath: { path: hostPath } },
          ],
        },
      );
      expect([root, user]).toEqual([['0 2000', '0 0'], ['1000 2000']]);
      const { uid } = (await node.running('owner')).metadata;
      const data = join(node.rootDir, 'pods', String(uid), 'volumes', 'kubernetes.io~empty-dir', 'data');
      expect(await stat(join(data, 'of-root'))).toMatchObject({ uid: 0, gid: 2000 });
      expect(await stat(join(data, 'of-user'))).toMatchObject({ uid: 1000, gid: 2000 });
      expect(await stat(join(hostPath, 'of-root'))).toMatchObject({ uid: 0, gid: 0 });
    });

    test('sees an unmasked /proc with procMount: Unmasked', async () => {
      const countMasks = "grep -c ' /proc/' /proc/self/mountinfo";
      const { masked, unmasked } = await outputOf(
        'unmasked',
        [
          printing('masked', countMasks),
          printing('unmasked', countMasks, { securityContext: { procMount: 'Unmasked' } }),
        ],
        own,
      );
      expect(Number(masked)).toBeGreaterThan(0);
      expect(unmasked).toEqual(['0']);
    });

    test('is counted in the metrics of started pods, and not as failed', async () => {
      const before = await readCounter('kubelet_started_user_namespaced_pods_total');
      await outputOf('counted', [printing('main', ':')], own);
      expect(await readCounter('kubelet_started_user_namespaced_pods_total')).toBe(before + 1);
      expect(await readCounter('kubelet_started_user_namespaced_pods_errors_total')).toBe(0);
    });
  } else {
    test('is not started, and the event and the metrics say so', async () => {
      await node.write('refused', podManifest('refused', [shell('main', steadily())], own));
      const query = ['get', 'events', '--field-selector', 'involvedObject.name=refused-node', '-o', 'json'];
      const event = await eventually('an event says why', async () => {
        const { items } = JSON.parse(await kubectl.run(...query));
        return items.find(({ reason }: { reason: string }) => reason === 'FailedCreatePodSandBox');
      });
      expect(event.message).toBe(
        "Failed to create pod sandbox: can't set `spec.hostUsers: false`, runtime does not support user namespaces",
      );
      const started = await readCounter('kubelet_started_user_namespaced_pods_total');
      expect(started).toBeGreaterThan(0);
      expect(await readCounter('kubelet_started_user_namespaced_pods_errors_total')).toBe(started);
    });
  }
});

describe('C46: a read-only volume with a nested mount', () => {
  let hostPath: string;

  beforeAll(async () => {
    hostPath = join(node.shared, 'tree');
    await mkdir(join(hostPath, 'nested'), { recursive: true });
    await promisify(execFile)('mount', ['-t', 'tmpfs', 'nested', join(hostPath, 'nested')]);
  });
  afterAll(() => promisify(execFile)('umount', [join(hostPath, 'nested')]));

  const container = (name: string, recursiveReadOnly?: 'Disabled' | 'IfPossible' | 'Enabled') => {
    const mode = recursiveReadOnly === undefined ? {} : { recursiveReadOnly };
    const volumeMounts = [{ name: 'tree', mountPath: '/tree', readOnly: true, ...mode }];
    return printing(name, `touch /tree/x; touch /tree/nested/${name} && echo written`, { volumeMounts });
  };
  const READ_ONLY = ['touch: /tree/x: Read-only file system'];

  test('has a writable nested mount unless recursiveReadOnly is in effect, as its status says', async () => {
    const volumes = [{ name: 'tree', hostPath: { path: hostPath } }];
    const output = await outputOf('tree', [container('plain'), container('possible', 'IfPossible')], { volumes });
    expect(output).toEqual({
      plain: [...READ_ONLY, 'written'],
      possible: isContainerd2
        ? [...READ_ONLY, 'touch: /tree/nested/possible: Read-only file system']
        : [...READ_ONLY, 'written'],
    });
    const pod = await node.running('tree');
    const mount = { name: 'tree', mountPath: '/tree', readOnly: true };
    expect(containerOf(pod, 'plain').volumeMounts).toEqual([{ ...mount, recursiveReadOnly: 'Disabled' }]);
    expect(containerOf(pod, 'possible').volumeMounts).toEqual([
      { ...mount, recursiveReadOnly: isContainerd2 ? 'Enabled' : 'Disabled' },
    ]);
  });

  test('has no writable nested mount with recursiveReadOnly: Enabled, or its container is not created', async () => {
    const volumes = [{ name: 'tree', hostPath: { path: hostPath } }];
    if (isContainerd2) {
      const { enabled } = await outputOf('enabled', [container('enabled', 'Enabled')], { volumes });
      expect(enabled).toEqual([...READ_ONLY, 'touch: /tree/nested/enabled: Read-only file system']);
      expect(containerOf(await node.running('enabled')).volumeMounts).toEqual([
        { name: 'tree', mountPath: '/tree', readOnly: true, recursiveReadOnly: 'Enabled' },
      ]);
      return;
    }
    await node.write('enabled', podManifest('enabled', [container('enabled', 'Enabled')], { volumes }));
    const message = await node.until('is refused', 'enabled', (pod) => {
      const { waiting } = containerOf(pod).state ?? {};
      return waiting?.reason === 'CreateContainerConfigError' && waiting.message;
    });
    expect(message).toContain(
      'volume "tree" requested recursive read-only mode, but it is not supported by the runtime',
    );
  });
});
