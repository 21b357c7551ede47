import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { findHierarchy, readHierarchies } from '../../host/cgroup/hierarchies.ts';
import { listMountsUnder } from '../../host/files/mountinfo.ts';
import { noAbort } from './support/containerd.ts';
import { eventually } from './support/eventually.ts';
import { nodeForAllTests } from './support/forAllTests.ts';
import { freePort } from './support/freePort.ts';
import { podManifest, shell, steadily } from './support/manifests.ts';
import { runNode } from './support/node.ts';

const hierarchies = await readHierarchies();
const node = await nodeForAllTests(runNode);
let { agent } = node;

/** Returns the directories of a cgroup of the node's pods in the cpu and memory hierarchies. */
const directoriesOf = (cgroup: string): string[] =>
  ['cpu', 'memory'].flatMap((controller) => {
    const root = findHierarchy(hierarchies, controller)?.root;
    return root === undefined ? [] : [join(root, node.runtime.containerd.cgroupParent, 'kubepods', cgroup)];
  });

const sharesOf = (cgroup: string): string => {
  const file = findHierarchy(hierarchies, 'cpu')?.version === 'v2' ? 'cpu.weight' : 'cpu.shares';
  return readFileSync(join(directoriesOf(cgroup)[0] ?? '', file), 'utf8').trim();
};

/** A process that the runtime does not know. */
const stranger = spawn('sleep', ['1000']);
afterAll(async () => {
  const end = once(stranger, 'exit');
  if (stranger.signalCode === null && stranger.kill('SIGKILL')) await end;
});

test('a pod terminates although its cgroup has a process unknown to the runtime', async () => {
  await node.write('haunted', podManifest('haunted', [shell('main', steadily())]));
  const { uid } = (await node.running('haunted')).metadata;
  for (const directory of directoriesOf(`besteffort/pod${uid}`)) {
    const left = join(directory, 'left');
    mkdirSync(left, { recursive: true });
    writeFileSync(join(left, 'cgroup.procs'), String(stranger.pid));
  }
  const end = once(stranger, 'exit');
  await node.remove('haunted');
  await node.gone('haunted');
  expect(await end).toEqual([null, 'SIGKILL']);
  expect(directoriesOf(`besteffort/pod${uid}`).filter((directory) => existsSync(directory))).toEqual([]);
});

test('C9, C15: a completed pod releases its cgroup and CPU shares, and has no sandbox any more', async () => {
  const resources = { requests: { cpu: '500m' } };
  const before = sharesOf('burstable');
  await node.write(
    'brief',
    podManifest('brief', [shell('main', 'sleep 1', { resources })], { restartPolicy: 'Never' }),
  );
  const { uid } = (await node.running('brief')).metadata;
  expect(sharesOf('burstable')).not.toBe(before);
  const { status } = await node.until('is over', 'brief', (pod) => {
    const condition = pod.status?.conditions?.find(({ type }) => type === 'PodReadyToStartContainers');
    return pod.status?.phase === 'Succeeded' && condition?.status === 'False' && pod;
  });
  expect(status?.podIP).toBeDefined();
  await node.until('has no cgroup', 'brief', () =>
    directoriesOf(`burstable/pod${uid}`).every((directory) => !existsSync(directory)),
  );
  expect(sharesOf('burstable')).toBe(before);
});

/** Returns the path of a pod's network namespace, as the status of its sandbox reports it. */
async function networkOf(uid: string): Promise<string> {
  const { cri } = node.runtime;
  const { items } = await cri.listPodSandbox(
    { filter: { id: '', state: undefined, labelSelector: {} } },
    { signal: noAbort },
  );
  const podSandboxId = items.find(({ metadata }) => metadata?.uid === uid)?.id ?? '';
  const { info } = await cri.podSandboxStatus({ podSandboxId, verbose: true }, { signal: noAbort });
  return /"(\/[^"]*netns[^"]*)"/.exec(info.info ?? '')?.[1] ?? '';
}

test('C9: a completed pod has no mount, cgroup or network, even under the next agent, and retains its status and logs', async () => {
  const main = shell(
    'main',
    'echo said; echo end; echo last words > /dev/termination-log; until test -e /data/go; do sleep 0.05; done',
    {
      volumeMounts: [{ name: 'data', mountPath: '/data' }],
      ports: [{ containerPort: 80, hostPort: await freePort() }],
    },
  );
  const volumes = [{ name: 'data', emptyDir: { medium: 'Memory' } }];
  await node.write('job', podManifest('job', [main], { restartPolicy: 'Never', volumes }));
  const { uid } = (await node.running('job')).metadata;
  const mounts = async () => (await listMountsUnder(join(node.rootDir, 'pods', uid), noAbort)).map(({ path }) => path);
  const network = await networkOf(uid);
  const isThere = () => [network, ...directoriesOf(`besteffort/pod${uid}`)].map((directory) => existsSync(directory));
  expect([await mounts(), isThere()]).toEqual([[expect.stringContaining('/data')], [true, true, true]]);

  const [volume = ''] = await mounts();
  writeFileSync(join(volume, 'go'), '');
  const hasNothing = async () => (await mounts()).length === 0 && isThere().every((each) => !each);
  await eventually('it has given back what it had', hasNothing);
  const finished = async () => {
    const pod = await node.until('is over', 'job', (shown) => shown.status?.phase === 'Succeeded' && shown);
    const message = pod.status?.containerStatuses?.[0]?.state?.terminated?.message;
    return [message, ...(await node.log(pod, 'main', 'end'))];
  };
  expect(await finished()).toEqual(['last words\n', 'said']);

  agent.kill('SIGKILL');
  await agent.ended;
  agent = await node.start();
  expect(await finished()).toEqual(['last words\n', 'said']);
  expect(await hasNothing()).toBe(true);
});
