/** The test API server as a library: requests in memory, injected faults, and clients with kubeconfigs. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { readBody } from '../../../kubeclient/body.ts';
import { KubeClient } from '../../../kubeclient/client.ts';
import { Http2Transport } from '../../../kubeclient/http2/http2Transport.ts';
import { kubeEndpoint } from '../../../node/cluster/kubeEndpoint.ts';
import { readKubeconfig } from '../../../node/config/files/kubeconfig.ts';
import { KubeconfigCredentials } from '../../../node/credentials/kubeconfigCredentials.ts';
import { ApiServer, type WatchedEvent } from '../../../testing/apiserver/apiServer.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const { signal } = new AbortController();

test('an in-memory API server serves the requests of an administrator and reports errors', async () => {
  const server = await ApiServer.start(new SimulatedClock());
  await server.request('POST', MAPS, { metadata: { name: 'one' }, data: { a: 'b' } });
  expect(await server.request('GET', `${MAPS}/one`)).toMatchObject({ kind: 'ConfigMap', data: { a: 'b' } });
  await server.request('PATCH', `${MAPS}/one`, { data: { a: null, c: 'd' } }, 'application/merge-patch+json');
  expect(await server.request('GET', `${MAPS}/one`)).toMatchObject({ data: { c: 'd' } });
  await expect(server.request('GET', `${MAPS}/two`)).rejects.toMatchObject({
    name: 'RequestFailed',
    code: 404,
    message: '404: configmaps "two" not found',
  });
  await expect(server.request('GET', `${MAPS}?watch=true`)).rejects.toThrow('is a watch');
});

test('an update with the UID of a deleted object does not create it', async () => {
  const server = await ApiServer.start(new SimulatedClock());
  const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
  const lease = (metadata: object) => ({ metadata: { name: 'one', ...metadata }, spec: { holderIdentity: 'one' } });
  await expect(server.request('PUT', `${leases}/one`, lease({ uid: 'a', resourceVersion: '1' }))).rejects.toThrow(
    /^409: Operation cannot be fulfilled on leases.coordination.k8s.io "one": StorageError: invalid object, Code: 4, .*UID in precondition: a, UID in object meta: $/,
  );
  expect(await server.request('PUT', `${leases}/one`, lease({}))).toMatchObject({ spec: { holderIdentity: 'one' } });
});

test('a watch reports changes until it is stopped', async () => {
  const server = await ApiServer.start(new SimulatedClock());
  const events: WatchedEvent[] = [];
  const stop = await server.watch(`${MAPS}?watch=true&fieldSelector=metadata.name%3Done`, (event) =>
    events.push(event),
  );
  await server.request('POST', MAPS, { metadata: { name: 'one' } });
  await server.request('POST', MAPS, { metadata: { name: 'two' } });
  await server.request('DELETE', `${MAPS}/one`);
  stop();
  await server.request('POST', MAPS, { metadata: { name: 'one' } });
  expect(events.map(({ type, object }) => [type, object.kind])).toEqual([
    ['ADDED', 'ConfigMap'],
    ['DELETED', 'ConfigMap'],
  ]);
  await expect(server.watch(MAPS, () => {})).rejects.toThrow('is no watch');
  await expect(server.watch('/api/v1/nothing?watch=true', () => {})).rejects.toThrow('404');
});

test('a fault applies to users of the API, not to the administrator of the test', async () => {
  const server = await ApiServer.start(new SimulatedClock());
  const user = { name: 'somebody', groups: ['system:masters'] };
  const request = { method: 'GET', url: `${MAPS}/kube-root-ca.crt`, headers: new Map(), body: '', user };
  server.faults.add({ fault: { kind: 'refused', code: 503 }, matches: (_, name) => name === 'somebody' });
  expect((await server.respond(request)).code).toBe(503);
  expect(await server.request('GET', `${MAPS}/kube-root-ca.crt`)).toMatchObject({ kind: 'ConfigMap' });
});

test('a watch that starts in compacted history receives an Expired error', async () => {
  const server = await ApiServer.start(new SimulatedClock());
  await server.request('POST', MAPS, { metadata: { name: 'one' } });
  server.compactHistory();
  const events: WatchedEvent[] = [];
  await server.watch(`${MAPS}?watch=true&resourceVersion=2`, (event) => events.push(event));
  expect(events).toEqual([{ type: 'ERROR', object: expect.objectContaining({ reason: 'Expired', code: 410 }) }]);
});

test('an API server serves the users in its kubeconfigs, and the same objects after all connections were closed', async () => {
  const server = await ApiServer.start(systemClock);
  const directory = await mkdtemp(join(tmpdir(), 'api-server-'));
  const served = await server.serve();
  const connected = async <T>(kubeconfig: string, act: (transport: Http2Transport) => Promise<T>): Promise<T> => {
    const file = join(directory, 'kubeconfig');
    await writeFile(file, kubeconfig);
    const read = await readKubeconfig(file);
    const credentials = new KubeconfigCredentials(read, { clock: systemClock, onProblem: () => {} });
    const transport = new Http2Transport(kubeEndpoint(read, credentials), systemClock);
    try {
      return await act(transport);
    } finally {
      transport.close();
    }
  };
  /** Gets a ConfigMap as the kubeconfig's user. */
  const getAs = (kubeconfig: string, path: string) =>
    connected(kubeconfig, (transport) =>
      new KubeClient({ transport, clock: systemClock, userAgent: 'test' }).get(path, {
        type: { apiVersion: 'v1', kind: 'ConfigMap' },
        signal,
      }),
    );
  const node = { name: 'system:node:n1', groups: ['system:nodes'] };
  try {
    expect(await getAs(served.kubeconfig(), `${MAPS}/kube-root-ca.crt`)).toMatchObject({ kind: 'ConfigMap' });
    await expect(getAs(served.kubeconfig(node), `${MAPS}/kube-root-ca.crt`)).rejects.toThrow(
      'User "system:node:n1" cannot',
    );
    const versions = await connected(served.kubeconfig(), async (transport) => {
      const { body } = await transport.send({ method: 'GET', path: '/api', headers: {} }, { signal });
      return JSON.parse(await readBody(body));
    });
    expect(versions).toMatchObject({ serverAddressByClientCIDRs: [{ serverAddress: `127.0.0.1:${served.port}` }] });
    await served.close();
    await expect(getAs(served.kubeconfig(), MAPS)).rejects.toThrow('ECONNREFUSED');
    const again = await server.serve({ port: served.port });
    expect(await getAs(served.kubeconfig(), `${MAPS}/kube-root-ca.crt`)).toMatchObject({ kind: 'ConfigMap' });
    await again.close();
  } finally {
    await served.close();
    server.close();
    await rm(directory, { recursive: true });
  }
});
