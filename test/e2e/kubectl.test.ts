/** The view of a cluster user of a node with real containers, through two kubectl releases of Debian. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import { testCluster } from './support/cluster.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests } from './support/forAllTests.ts';
import { Kubectl, type Release } from './support/kubectl.ts';
import { podManifest, shell, steadily, stubbornly } from './support/manifests.ts';

const cluster = await forAllTests(testCluster);
const { node, kubeconfig } = cluster;

const READY = ['wait', '--for=condition=Ready', '--timeout=50s'] as const;
const AGE = String.raw`\d+[smh]?\S*`;

/** Returns the rows of a table, whose cells are separated by at least two spaces. */
const rowsOf = (table: string): string[][] =>
  table
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().split(/ {2,}/));

/** Returns the section of a `describe` output below a heading, up to the next heading. */
function section(description: string, heading: string): string {
  const found = new RegExp(`^${heading}:.*\\n(?:[ ].*\\n)*`, 'm').exec(description)?.[0];
  if (found === undefined) throw new Error(`there is no ${heading} in:\n${description}`);
  return found;
}

/**
 * Waits until the description of a pod lists this event, and returns its events. Events are sent separately from the
 * status, which may arrive first.
 */
const eventsOf = (run: Kubectl['run'], pod: string, event: RegExp) =>
  eventually(`an event ${event} of ${pod}`, async () => {
    const events = section(await run('describe', 'pod', pod), 'Events');
    return event.test(events) ? events : undefined;
  });

test('a static pod is shown in the cluster, and is unaffected by changes to its mirror pod', async () => {
  const kubectl = new Kubectl('sid', { kubeconfig, directory: node.directory });
  await node.write('fixed', podManifest('fixed', [shell('main', steadily())]));
  await node.running('fixed');
  await eventually('it is shown', async () => (await kubectl.tryRun(...READY, 'pod/fixed-node')).code === 0);
  expect(await kubectl.run('describe', 'pod', 'fixed-node')).toMatch(/^Controlled By: +Node\/node$/m);
  await eventsOf((...args) => kubectl.run(...args), 'fixed-node', / Normal +Started .* Container started\n/);
  const uid = ['get', 'pod', 'fixed-node', '-o', 'jsonpath={.metadata.uid} {.status.containerStatuses[0].containerID}'];
  const [before, container] = (await kubectl.run(...uid)).split(' ');
  await kubectl.run('delete', 'pod', 'fixed-node');
  await eventually('it is shown again, with the container that it had', async () => {
    const [after, same] = (await kubectl.run(...uid)).split(' ');
    return after !== before && same === container;
  });
  await node.remove('fixed');
  await kubectl.run('wait', '--for=delete', '--timeout=50s', 'pod/fixed-node');
});

describe.each<[Release, RegExp, RegExp]>([
  // kubectl 1.20 looks for events whose involvedObject.uid is the name of the node, as in kubelets up to 1.35.
  ['bookworm', /v1\.20\./, /^Events: +<none>\n/],
  ['sid', /v1\.(3[6-9]|[4-9]\d)\./, / Normal +NodeReady .* kubelet +Node node status is now: NodeReady\n/],
])('with kubectl of %s', (release, version, nodeEvents) => {
  const kubectl = new Kubectl(release, { kubeconfig, directory: node.directory });
  const inNamespace = (...args: readonly string[]) => kubectl.run('--namespace', release, ...args);
  const fileOf = async (name: string, containers: readonly Container[], grace = 5) => {
    const file = join(node.directory, `${release}-${name}.json`);
    await writeFile(file, JSON.stringify(podManifest(name, containers, { terminationGracePeriodSeconds: grace })));
    return file;
  };
  const uidOf = (name: string) => inNamespace('get', 'pod', name, '-o', 'jsonpath={.metadata.uid}');
  /** Returns the pod as the node itself reports it. */
  const onNode = async (uid: string) => (await node.pods()).find(({ metadata }) => metadata.uid === uid);
  const ended = (uid: string) => eventually(`pod ${uid} ends`, async () => (await onNode(uid)) === undefined);

  beforeAll(() => cluster.addNamespace(release));

  test('has the version that was downloaded', async () => {
    expect(await kubectl.run('version')).toMatch(new RegExp(`Client Version: .*${version.source}`));
  });

  test('get nodes shows the node as ready', async () => {
    await kubectl.run(...READY, 'node/node');
    const [header, row] = rowsOf(await kubectl.run('get', 'nodes', '-o', 'wide'));
    expect(header).toEqual([
      'NAME',
      'STATUS',
      'ROLES',
      'AGE',
      'VERSION',
      'INTERNAL-IP',
      'EXTERNAL-IP',
      'OS-IMAGE',
      'KERNEL-VERSION',
      'CONTAINER-RUNTIME',
    ]);
    expect(row).toEqual([
      'node',
      'Ready',
      '<none>',
      expect.stringMatching(AGE),
      expect.stringMatching(/^v1\.36\.0\+statelet/),
      expect.stringMatching(/^[\d.]+$/),
      '<none>',
      expect.stringContaining('Debian'),
      expect.any(String),
      expect.stringMatching(/^containerd:\/\/[12]\./),
    ]);
  });

  test('apply creates a pod, and wait sees it become ready', async () => {
    const file = await fileOf('web', [shell('main', steadily(), { resources: { limits: { memory: '32Mi' } } })]);
    expect(await inNamespace('apply', '-f', file)).toBe('pod/web created\n');
    expect(await inNamespace(...READY, 'pod/web')).toBe('pod/web condition met\n');
    expect(await inNamespace('apply', '-f', file)).toBe('pod/web unchanged\n');
  });

  test('apply rejects an unknown field', async () => {
    const misspelled = { ...shell('main', steadily()), ports_: [] };
    const file = await fileOf('wrong', [misspelled]);
    const { code, err } = await kubectl.tryRun('apply', '-f', file, '-n', release);
    expect(code).toBe(1);
    expect(err).toMatch(/unknown field "(spec\.containers\[0\]\.)?ports_"/);
  });

  test('get shows where the pod runs', async () => {
    const [header, row] = rowsOf(await inNamespace('get', 'pods', '-o', 'wide'));
    expect(header).toEqual([
      'NAME',
      'READY',
      'STATUS',
      'RESTARTS',
      'AGE',
      'IP',
      'NODE',
      'NOMINATED NODE',
      'READINESS GATES',
    ]);
    const { podIP } = (await onNode(await uidOf('web')))?.status ?? {};
    expect(row).toEqual(['web', '1/1', 'Running', '0', expect.stringMatching(AGE), podIP, 'node', '<none>', '<none>']);
  });

  test('describe shows its containers, conditions and events', async () => {
    const seen = await inNamespace('describe', 'pod', 'web');
    expect(seen).toMatch(/^Node: +node\/[\d.]+$/m);
    expect(seen).toMatch(/^Status: +Running$/m);
    expect(seen).toMatch(/^QoS Class: +Burstable$/m);
    const containers = section(seen, 'Containers');
    expect(containers).toMatch(/Container ID: +containerd:\/\/[0-9a-f]{64}\n/);
    expect(containers).toMatch(/Image ID: +\S*sha256:[0-9a-f]{64}\n/);
    expect(containers).toMatch(/State: +Running\n +Started: +\w{3}, /);
    expect(containers).toMatch(/Ready: +True\n +Restart Count: +0\n/);
    const conditions = rowsOf(section(seen, 'Conditions')).slice(2);
    expect(conditions.map(([type, status]) => `${type} ${status}`).toSorted()).toEqual([
      'ContainersReady True',
      'Initialized True',
      'PodReadyToStartContainers True',
      'PodScheduled True',
      'Ready True',
    ]);
    const started = new RegExp(`Normal +Started +${AGE} +kubelet +(spec.containers{main}: )?Container started\n`);
    const events = await eventsOf(inNamespace, 'web', started);
    for (const reason of ['Pulled', 'Created']) expect(events).toMatch(new RegExp(`Normal +${reason} `));
  });

  test('describe shows the node with its pods, its lease and its events', async () => {
    const seen = await kubectl.run('describe', 'node', 'node');
    expect(seen).toMatch(/^Unschedulable: +false$/m);
    expect(seen).toMatch(/^Taints: +<none>$/m);
    expect(section(seen, 'Lease')).toMatch(/HolderIdentity: +node\n(.*\n)*? +RenewTime: +\w{3}, /);
    expect(section(seen, 'Conditions')).toMatch(/ Ready +True .* KubeletReady +kubelet is posting ready status\n/);
    expect(section(seen, 'Capacity')).toMatch(/ pods: +110\n/);
    expect(section(seen, 'System Info')).toMatch(/Kubelet Version: +v1\.36\.0\+statelet/);
    expect(section(seen, 'Non-terminated Pods')).toMatch(
      new RegExp(` ${release} +web +0 \\(0%\\) +0 \\(0%\\) +32Mi \\(\\d+%\\) +32Mi \\(\\d+%\\) +${AGE}\n`),
    );
    expect(section(seen, 'Events')).toMatch(nodeEvents);
  });

  test('label and annotate changes reach the node', async () => {
    expect(await inNamespace('label', 'pod', 'web', 'tier=front')).toBe('pod/web labeled\n');
    expect(await inNamespace('annotate', 'pod', 'web', 'note=seen')).toMatch(/^pod\/web annotated\n$/);
    expect(await inNamespace('get', 'pods', '-l', 'tier=front', '-o', 'name')).toBe('pod/web\n');
    expect(rowsOf(await inNamespace('get', 'pods', '--show-labels'))[1]?.at(-1)).toBe('tier=front');
    const uid = await uidOf('web');
    await eventually('the node hears of it', async () => {
      const { labels, annotations } = (await onNode(uid))?.metadata ?? {};
      return labels?.tier === 'front' && annotations?.note === 'seen';
    });
    expect(await kubectl.run('label', 'node', 'node', `${release}=here`)).toBe('node/node labeled\n');
    expect(await kubectl.run('get', 'nodes', '-l', `${release}=here`, '-o', 'name')).toBe('node/node\n');
  });

  test('create provides the objects that a pod references, in every wire format', async () => {
    await inNamespace('create', 'configmap', 'settings', '--from-literal=colour=blue');
    await inNamespace('create', 'secret', 'generic', 'password', '--from-literal=word=sesame');
    await inNamespace('create', 'serviceaccount', 'robot');
    await inNamespace('create', 'service', 'clusterip', 'shop', '--tcp=80:8080');
    const volumes = [
      { name: 'settings', configMap: { name: 'settings' } },
      { name: 'password', secret: { secretName: 'password' } },
    ];
    const mounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}` }));
    const prints = shell('main', `cat /settings/colour /password/word; ${steadily()}`);
    const spec = { volumes, serviceAccountName: 'robot', containers: [{ ...prints, volumeMounts: mounts }] };
    const overrides = JSON.stringify({ apiVersion: 'v1', spec: { ...spec, automountServiceAccountToken: false } });
    await inNamespace('run', 'reader', '--image=statelet.local/busybox:1', '--overrides', overrides);
    await inNamespace(...READY, 'pod/reader');
    expect(await inNamespace('expose', 'pod', 'reader', '--port=80', '--name=reader')).toMatch(
      /^service\/reader exposed/,
    );
    const shown = await inNamespace('get', 'services', '-o', 'jsonpath={.items[*].spec.ports[*].targetPort}');
    expect(shown.split(' ').sort()).toEqual(['80', '8080']);
    // kubectl 1.20 does not have this command.
    if (release === 'sid') expect(await inNamespace('create', 'token', 'robot')).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    const uid = await uidOf('reader');
    await inNamespace('delete', 'pod', 'reader', '--now');
    await ended(uid);
  });

  test('get and describe show a failing container, its reason and its restarts', async () => {
    await inNamespace('apply', '-f', await fileOf('crash', [shell('main', 'exit 3')]));
    await eventually('it is in back-off', async () => {
      const row = rowsOf(await inNamespace('get', 'pods')).find(([name]) => name === 'crash');
      return row?.[1] === '0/1' && row[2] === 'CrashLoopBackOff' && Number.parseInt(row[3] ?? '', 10) > 0;
    });
    const seen = await inNamespace('describe', 'pod', 'crash');
    expect(seen).toMatch(/State: +Waiting\n +Reason: +CrashLoopBackOff\n/);
    expect(seen).toMatch(/Last State: +Terminated\n +Reason: +Error\n +Exit Code: +3\n/);
    await eventsOf(inNamespace, 'crash', /Warning +BackOff .* Back-off restarting failed container main in pod crash_/);
    expect(await inNamespace('delete', 'pod', 'crash')).toMatch(/^pod "crash" deleted/);
  });

  test('get events shows the events of the pods', async () => {
    const [header, ...rows] = rowsOf(await inNamespace('get', 'events'));
    expect(header).toEqual(['LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'MESSAGE']);
    expect(rows).toContainEqual([expect.stringMatching(AGE), 'Normal', 'Started', 'pod/web', 'Container started']);
    expect(rows.filter(([, , , object]) => !object?.startsWith('pod/'))).toEqual([]);
    // Events of the node are in the namespace `default`.
    const all = rowsOf(await kubectl.run('get', 'events'));
    expect(all).toContainEqual([expect.stringMatching(AGE), 'Normal', 'Starting', 'node/node', 'Starting kubelet.']);
  });

  test('a pod created while the node is cordoned waits until it is uncordoned', async () => {
    expect(await kubectl.run('cordon', 'node')).toBe('node/node cordoned\n');
    expect(rowsOf(await kubectl.run('get', 'nodes'))[1]?.slice(0, 2)).toEqual(['node', 'Ready,SchedulingDisabled']);
    expect(await kubectl.run('describe', 'node', 'node')).toMatch(/^Unschedulable: +true$/m);
    await inNamespace('apply', '-f', await fileOf('late', [shell('main', steadily())]));
    const { code, err } = await kubectl.tryRun(
      'wait',
      '--for=condition=Ready',
      '--timeout=1s',
      '-n',
      release,
      'pod/late',
    );
    expect([code, err]).toEqual([1, expect.stringContaining('timed out waiting for the condition on pods/late')]);
    const waiting = rowsOf(await inNamespace('get', 'pod', 'late', '-o', 'wide'))[1];
    expect([waiting?.[2], waiting?.[6]]).toEqual(['Pending', '<none>']);
    expect(await kubectl.run('uncordon', 'node')).toBe('node/node uncordoned\n');
    expect(await inNamespace(...READY, 'pod/late')).toBe('pod/late condition met\n');
  });

  test('delete returns when the pod has terminated', async () => {
    const uid = await uidOf('web');
    expect(await inNamespace('delete', 'pod', 'web')).toMatch(/^pod "web" deleted/);
    const { code, err } = await kubectl.tryRun('get', 'pod', 'web', '-n', release);
    expect([code, err]).toEqual([1, 'Error from server (NotFound): pods "web" not found\n']);
    await ended(uid);
    expect(await inNamespace('delete', '-f', join(node.directory, `${release}-late.json`))).toMatch(
      /^pod "late" deleted/,
    );
  });

  test('delete --force returns at once, and the node terminates the pod afterwards', async () => {
    const file = await fileOf('stubborn', [shell('main', stubbornly)], 2);
    await inNamespace('apply', '-f', file);
    await inNamespace(...READY, 'pod/stubborn');
    const uid = await uidOf('stubborn');
    const force = ['delete', 'pod', 'stubborn', '--grace-period=0', '--force', '-n', release];
    const { out, err } = await kubectl.tryRun(...force);
    expect(out).toMatch(/^pod "stubborn" force deleted/);
    expect(err).toMatch(/warning: Immediate deletion does not wait for confirmation/i);
    expect(await onNode(uid)).toBeDefined();
    // The name can be reused at once.
    expect(await inNamespace('apply', '-f', file)).toBe('pod/stubborn created\n');
    await inNamespace(...READY, 'pod/stubborn');
    await ended(uid);
    await kubectl.run(...force);
  });

  test('deleting a namespace terminates its pods', async () => {
    await inNamespace('run', 'last', '--image=statelet.local/busybox:1', '--', 'sh', '-c', steadily());
    await inNamespace(...READY, 'pod/last');
    const uid = await uidOf('last');
    expect(await kubectl.run('delete', 'namespace', release)).toBe(`namespace "${release}" deleted\n`);
    await ended(uid);
  });
});
