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

/** Where a cgroup of the node's pods is in the hierarchies that processes are limited in. */
const places = (cgroup: string): string[] =>
  ['cpu', 'memory'].flatMap((controller) => {
    const root = findHierarchy(hierarchies, controller)?.root;
    return root === undefined ? [] : [join(root, node.runtime.containerd.cgroupParent, 'kubepods', cgroup)];
  });

const sharesOf = (cgroup: string): string => {
  const file = findHierarchy(hierarchies, 'cpu')?.version === 'v2' ? 'cpu.weight' : 'cpu.shares';
  return readFileSync(join(places(cgroup)[0] ?? '', file), 'utf8').trim();
};

/** A process that the runtime knows nothing of. */
const stranger = spawn('sleep', ['1000']);
afterAll(async () => {
  const end = once(stranger, 'exit');
  if (stranger.signalCode === null && stranger.kill('SIGKILL')) await end;
});

test('a pod terminates although its cgroup has a process unknown to the runtime', async () => {
  await node.write('haunted', podManifest('haunted', [shell('main', steadily())]));
  const { uid } = (await node.running('haunted')).metadata;
  for (const place of places(`besteffort/pod${uid}`)) {
    const left = join(place, 'left');
    mkdirSync(left, { recursive: true });
    writeFileSync(join(left, 'cgroup.procs'), String(stranger.pid));
  }
  const end = once(stranger, 'exit');
  await node.remove('haunted');
  await node.gone('haunted');
  expect(await end).toEqual([null, 'SIGKILL']);
  expect(places(`besteffort/pod${uid}`).filter((place) => existsSync(place))).toEqual([]);
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
  await node.until('has no cgroup', 'brief', () => places(`burstable/pod${uid}`).every((place) => !existsSync(place)));
  expect(sharesOf('burstable')).toBe(before);
});

/** Where the network of a pod is, as its sandbox tells. */
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
  const isThere = () => [network, ...places(`besteffort/pod${uid}`)].map((place) => existsSync(place));
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
