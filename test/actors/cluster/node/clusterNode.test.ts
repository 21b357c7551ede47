import { describe, expect, test } from '@jest/globals';
import { type ClusterPort, noCluster } from '../../../../actors/cluster/node/clusterNode.ts';
import { joiningNode, LABELS, NODE, NODES } from '../support/joiningNode.ts';

const CSI_NODES = '/apis/storage.k8s.io/v1/csinodes';
const CSI_NODE = `${CSI_NODES}/node-1`;
const MARK = { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' };

const MIGRATED = 'storage.alpha.kubernetes.io/migrated-plugins';

describe('registering', () => {
  test('creates the Node with its status, and returns and publishes its UID', async () => {
    const publishedUids: string[] = [];
    const { register, ask } = joiningNode({ onNodeUid: (uid) => publishedUids.push(uid) });
    const { uid, isNew } = await register();
    expect(isNew).toBe(true);
    expect(publishedUids).toEqual([uid]);
    expect(await ask('GET', NODE)).toMatchObject({
      metadata: { uid, labels: LABELS, annotations: MARK },
      status: { capacity: { cpu: '2', pods: '110' }, addresses: [{ type: 'InternalIP', address: '192.0.2.1' }, {}] },
    });
  });

  test('adopts an existing Node, and corrects the fields that the node owns', async () => {
    const { register, ask, asked } = joiningNode();
    const labels = { 'kubernetes.io/hostname': 'else', 'example.com/rack': '7' };
    const { metadata } = await ask('POST', NODES, { metadata: { name: 'node-1', labels, annotations: { note: 'x' } } });
    expect(metadata).toMatchObject({ uid: (await register()).uid });
    expect(asked()).toEqual([`POST ${NODES}`, `GET ${NODE}`, `PATCH ${NODE}/status`]);
    expect(await ask('GET', NODE)).toMatchObject({
      metadata: { labels: { ...LABELS, 'example.com/rack': '7' }, annotations: { note: 'x', ...MARK } },
    });
  });

  test('writes nothing when it registers again and the Node is already correct', async () => {
    const { register, asked } = joiningNode();
    const { uid } = await register();
    asked();
    const again = await register();
    expect(again).toMatchObject({ uid });
    expect(again).not.toHaveProperty('isNew');
    expect(asked()).toEqual([`POST ${NODES}`, `GET ${NODE}`]);
  });

  test('waits for another client to create the Node if the node must not create it', async () => {
    const { register, ask, asked } = joiningNode({ createsNode: false });
    await expect(register()).rejects.toMatchObject({ code: 404 });
    const { metadata } = await ask('POST', NODES, { metadata: { name: 'node-1' } });
    expect(metadata).toMatchObject({ uid: (await register()).uid });
    expect(asked()).toEqual([`GET ${NODE}`, `GET ${NODE}`]);
    expect(await ask('GET', NODE)).not.toMatchObject({ metadata: { annotations: MARK } });
  });

  test('adopts an existing Node if the server forbids the creation', async () => {
    const { register, ask, troubled } = joiningNode();
    troubled('create', { kind: 'refused', code: 403 });
    const { metadata } = await ask('POST', NODES, { metadata: { name: 'node-1' } });
    expect(metadata).toMatchObject({ uid: (await register()).uid });
  });

  test('fails if the server fails, and does not read the Node then', async () => {
    const { register, troubled, asked } = joiningNode();
    troubled('create', { kind: 'refused', code: 500 });
    await expect(register()).rejects.toMatchObject({ code: 500 });
    expect(asked()).toEqual([`POST ${NODES}`]);
    await register();
  });
});

describe('the CSINode', () => {
  const ownedBy = (uid: string) => ({
    metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid }] },
  });

  test('is created once, for the Node with its UID', async () => {
    const { register, ensureCsiNode, ask, asked } = joiningNode();
    const { uid } = await register();
    await ensureCsiNode(uid);
    expect(await ask('GET', CSI_NODE)).toMatchObject(ownedBy(uid));
    expect(await ask('GET', CSI_NODE)).toMatchObject({
      metadata: {
        annotations: {
          [MIGRATED]:
            'kubernetes.io/aws-ebs,kubernetes.io/azure-disk,kubernetes.io/azure-file,kubernetes.io/cinder,kubernetes.io/gce-pd,kubernetes.io/portworx-volume,kubernetes.io/vsphere-volume',
        },
      },
    });
    asked();
    await ensureCsiNode(uid);
    expect(asked()).toEqual([`GET ${CSI_NODE}`]);
  });

  test('of an earlier Node is recreated', async () => {
    const { register, ensureCsiNode, ask } = joiningNode();
    await ensureCsiNode((await register()).uid);
    const { metadata: first } = await ask('GET', CSI_NODE);
    await ask('DELETE', NODE);
    const { uid } = await register();
    await ensureCsiNode(uid);
    const second = await ask('GET', CSI_NODE);
    expect(second).toMatchObject(ownedBy(uid));
    expect(second.metadata).not.toMatchObject({ uid: Object(first).uid });
  });

  test('C33: without an owner is recreated', async () => {
    const { register, ensureCsiNode, ask } = joiningNode();
    const { uid } = await register();
    await ask('POST', CSI_NODES, { metadata: { name: 'node-1' }, spec: { drivers: [] } });
    await ensureCsiNode(uid);
    expect(await ask('GET', CSI_NODE)).toMatchObject(ownedBy(uid));
  });

  test.each([[{}], [{ [MIGRATED]: 'kubernetes.io/aws-ebs,kubernetes.io/own' }]])(
    'C33: is updated once if an earlier agent left it with the annotations %j',
    async (annotations) => {
      const { register, ensureCsiNode, ask, asked } = joiningNode();
      const { uid } = await register();
      const { ownerReferences } = ownedBy(uid).metadata;
      const drivers = [{ name: 'csi.example.com', nodeID: 'n', topologyKeys: [] }];
      const metadata = { name: 'node-1', annotations: { ...annotations, note: 'x' }, ownerReferences };
      await ask('POST', CSI_NODES, { metadata, spec: { drivers } });
      asked();
      await ensureCsiNode(uid);
      expect(asked()).toEqual([`GET ${CSI_NODE}`, `PUT ${CSI_NODE}`]);
      expect(await ask('GET', CSI_NODE)).toMatchObject({
        metadata: { annotations: { [MIGRATED]: expect.stringMatching(/^(kubernetes\.io\/[a-z-]+,?){7}$/), note: 'x' } },
        spec: { drivers: [{ name: 'csi.example.com', nodeID: 'n' }] },
      });
      asked();
      await ensureCsiNode(uid);
      expect(asked()).toEqual([`GET ${CSI_NODE}`]);
    },
  );

  test('is not created while the server cannot say whether it exists', async () => {
    const { register, ensureCsiNode, troubled, asked } = joiningNode();
    const { uid } = await register();
    asked();
    troubled('get', { kind: 'refused', code: 500 });
    await expect(ensureCsiNode(uid)).rejects.toMatchObject({ code: 500 });
    expect(asked()).toEqual([`GET ${CSI_NODE}`]);
  });
});

describe('the node conditions found at registration', () => {
  const reasons = ['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID'];

  test('are reported as events on every registration, except that the node is ready', async () => {
    const { register } = joiningNode();
    const first = (await register()).events;
    expect(first.map(({ reason }) => reason)).toEqual(reasons);
    expect(first[0]?.message).toBe('Node node-1 status is now: NodeHasSufficientMemory');
    expect((await register()).events).toEqual(first);
  });

  test('are reported as events by the status update if another client creates the Node', async () => {
    const { register, put, ask } = joiningNode({ createsNode: false });
    await ask('POST', NODES, { metadata: { name: 'node-1' } });
    expect((await register()).events).toEqual([]);
    expect((await put()).events.map(({ reason }) => reason)).toEqual([...reasons, 'NodeReady']);
  });
});

test('C33: an adopted Node loses the huge pages and devices that its host does not have', async () => {
  const { register, ask } = joiningNode();
  await ask('POST', NODES, { metadata: { name: 'node-1' } });
  const gone = { cpu: '2', 'hugepages-2Mi': '4Mi', 'example.com/gpu': '2' };
  await ask(
    'PATCH',
    `${NODE}/status`,
    { status: { capacity: gone, allocatable: gone } },
    'application/merge-patch+json',
  );
  await register();
  const left = { cpu: '2', 'example.com/gpu': '0' };
  const { status } = await ask('GET', NODE);
  expect(status).toMatchObject({ capacity: left, allocatable: left });
  expect(status).not.toHaveProperty(['capacity', 'hugepages-2Mi']);
});

test('a Node is created with the taints and the provider ID of the node, which are never written again', async () => {
  const taints = [{ key: 'dedicated', value: 'db', effect: 'NoSchedule' as const }];
  const { register, changes, ask, asked } = joiningNode();
  changes.of = { taints, providerId: 'cloud://1', labels: { ...LABELS, 'example.com/rack': '7' } };
  await register();
  const made = await ask('GET', NODE);
  expect(made).toMatchObject({
    metadata: { labels: { 'example.com/rack': '7' } },
    spec: { providerID: 'cloud://1', taints: expect.arrayContaining(taints) },
  });
  asked();
  changes.of = { taints: [], providerId: 'cloud://2', labels: { ...LABELS, 'example.com/rack': '8' } };
  await register();
  expect(asked()).toEqual([`POST ${NODES}`, `GET ${NODE}`]);
  expect(await ask('GET', NODE)).toEqual(made);
});

test('the Node is read from the server each time, and a missing Node is a failure', async () => {
  const { register, readNode, ask, asked } = joiningNode();
  await expect(readNode()).rejects.toMatchObject({ code: 404 });
  const { uid } = await register();
  await ask('PATCH', NODE, { metadata: { labels: { zone: 'a' } } }, 'application/merge-patch+json');
  asked();
  expect(await readNode()).toMatchObject({ uid, labels: { zone: 'a' }, isUnreachable: false });
  expect(asked()).toEqual([`GET ${NODE}`]);
});

test('every cluster port rejects on a node without a cluster', async () => {
  const options = { signal: new AbortController().signal };
  const { registerNode, readNode, ensureCsiNode, putNodeStatus, renewLease } = noCluster;
  const calls: Record<ClusterPort, Promise<unknown>> = {
    registerNode: registerNode(null, options),
    readNode: readNode(null, options),
    ensureCsiNode: ensureCsiNode({ uid: 'u' }, options),
    putNodeStatus: putNodeStatus(null, options),
    renewLease: renewLease(null, options),
  };
  for (const call of Object.values(calls)) await expect(call).rejects.toThrow('the node belongs to no cluster');
});
