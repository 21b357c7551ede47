/** Parts of pods that come from their cluster: the environment variables of services, and RuntimeClasses. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Attributes } from '../../../testing/apiserver/authorization/attributes.ts';
import { boundPod, joinedNode, PODS } from '../../fakes/joinedNode.ts';
import type { SimulatedNode } from '../../fakes/node.ts';
import { IMAGE } from '../../fakes/pods.ts';

const CLASSES = '/apis/node.k8s.io/v1/runtimeclasses';

const container = (more: object = {}) => ({ name: 'main', image: IMAGE, ...more });
const manifest = (name: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  ...boundPod(name, spec),
});
const isOf =
  (resource: string) =>
  (asked: Attributes): boolean =>
    'resource' in asked && asked.resource === resource;

/** Writes a static pod. The node detects it at its next check of the files. */
async function writeStatic(node: SimulatedNode, name: string, spec: object = {}): Promise<void> {
  const { nodeName: _, ...own } = manifest(name, spec).spec;
  const pod = { ...manifest(name), metadata: { name, namespace: 'default' }, spec: own };
  await writeFile(join(node.manifestDir, `${name}.json`), JSON.stringify(pod));
}

/** Returns the environment of the container that was created last. */
function environment(node: SimulatedNode): Readonly<Record<string, string>> {
  const made = node.calls('createContainer').at(-1)?.request;
  // The simulated runtime logs each request unchanged.
  const { config } = made as { config: { envs: readonly { key: string; value: Uint8Array }[]; command: string[] } };
  return Object.fromEntries(config.envs.map(({ key, value }) => [key, Buffer.from(value).toString()]));
}

describe('service environment variables', () => {
  const SERVICES = '/api/v1/namespaces/default/services';
  const db = { metadata: { name: 'db' }, spec: { ports: [{ name: 'sql', port: 5432 }] } };
  /** A real kube-apiserver creates this service itself. */
  const itself = { metadata: { name: 'kubernetes' }, spec: { ports: [{ name: 'https', port: 443 }] } };

  test('contain the services of the namespace, after the variables of the container, and can be referenced', async () => {
    const { node, ask } = await joinedNode();
    await ask('POST', SERVICES, db);
    await ask('POST', SERVICES, itself);
    const env = [
      { name: 'URL', value: '$(DB_SERVICE_HOST):$(DB_SERVICE_PORT_SQL)' },
      { name: 'DB_PORT', value: 'mine' },
    ];
    await ask('POST', PODS, manifest('web', { containers: [container({ env })] }));
    await node.advance('2s');
    const variables = environment(node);
    expect(variables).toMatchObject({
      DB_SERVICE_PORT: '5432',
      DB_PORT: 'mine',
      DB_PORT_5432_TCP_PROTO: 'tcp',
      URL: `${variables.DB_SERVICE_HOST}:5432`,
    });
    expect(variables.KUBERNETES_SERVICE_HOST).toBeDefined();
  });

  test('contain only the API server for a pod with enableServiceLinks: false', async () => {
    const { node, ask } = await joinedNode();
    await ask('POST', SERVICES, db);
    await ask('POST', SERVICES, itself);
    await ask('POST', PODS, manifest('web', { enableServiceLinks: false }));
    await node.advance('2s');
    expect(environment(node)).not.toHaveProperty('DB_PORT');
    expect(environment(node)).toHaveProperty('KUBERNETES_SERVICE_PORT');
  });

  test('delay an API server pod until the services are known, but not a static pod', async () => {
    const end = { now: () => {} };
    const { node, ask } = await joinedNode({}, ({ api }) => {
      const matches = (asked: Attributes) => isOf('services')(asked) && asked.verb !== 'create';
      end.now = api.faults.add({ fault: { kind: 'refused', code: 500 }, matches });
    });
    await ask('POST', SERVICES, itself);
    await ask('POST', PODS, manifest('web'));
    await writeStatic(node, 'proxy');
    await node.advance('25s');
    expect(node.container('web').state).toEqual({
      waiting: {
        reason: 'CreateContainerConfigError',
        message: 'services have not yet been read at least once, cannot construct envvars',
      },
    });
    expect(node.pod('proxy-node-1').phase).toBe('Running');
    expect(environment(node)).not.toHaveProperty('KUBERNETES_SERVICE_HOST');
    end.now();
    await node.advance('90s');
    expect(node.pod('web').phase).toBe('Running');
    expect(environment(node)).toHaveProperty('KUBERNETES_SERVICE_HOST');
    expect(node.container('web').restartCount).toBe(0);
  });

  test('of a static pod contain the services once they are known', async () => {
    const { node, ask } = await joinedNode();
    await ask('POST', SERVICES, itself);
    await writeStatic(node, 'proxy');
    await node.advance('25s');
    expect(environment(node)).toHaveProperty('KUBERNETES_SERVICE_HOST');
  });
});

describe('a RuntimeClass', () => {
  const NOT_FOUND = 'Failed to create pod sandbox: runtimeclass.node.k8s.io "gvisor" not found';
  const classed = { runtimeClassName: 'gvisor' };
  const gvisor = { metadata: { name: 'gvisor' }, handler: 'runsc', overhead: { podFixed: { cpu: '250m' } } };
  const handlers = (node: SimulatedNode) =>
    // The simulated runtime logs each request unchanged.
    node.calls('runPodSandbox').map(({ request }) => (request as { runtimeHandler: string }).runtimeHandler);

  async function eventfulNode() {
    const events: string[] = [];
    const joined = await joinedNode({
      parts: { events: ({ reason, message }) => void events.push(`${reason}: ${message}`) },
    });
    return { ...joined, events };
  }

  test('of the cluster selects the runtime handler of a pod', async () => {
    const { node, ask } = await eventfulNode();
    await ask('POST', CLASSES, gvisor);
    await ask('POST', PODS, manifest('web', classed));
    await node.advance('2s');
    expect([node.pod('web').phase, handlers(node)]).toEqual(['Running', ['runsc']]);
    // The API server has added the overhead of the RuntimeClass.
    expect(node.agent.pods()[0]?.spec.overhead).toEqual({ cpu: '250m' });
  });

  test('that does not exist leaves an API server pod waiting, with an event, until it is created', async () => {
    const { node, ask, events } = await eventfulNode();
    node.killAgent();
    await ask('POST', CLASSES, gvisor);
    await ask('POST', PODS, manifest('web', classed));
    await ask('DELETE', `${CLASSES}/gvisor`);
    await node.restartAgent();
    await node.advance('5s');
    expect([node.pod('web').phase, handlers(node)]).toEqual(['Pending', []]);
    expect(events).toContain(`FailedCreatePodSandBox: ${NOT_FOUND}`);
    await ask('POST', CLASSES, gvisor);
    await node.advance('60s');
    expect([node.pod('web').phase, handlers(node)]).toEqual(['Running', ['runsc']]);
  });

  test('that does not exist leaves a static pod waiting as well, and adds no overhead to it', async () => {
    const { node, ask, events } = await eventfulNode();
    await writeStatic(node, 'proxy', classed);
    await node.advance('25s');
    expect(node.manifestProblems).toEqual([]);
    expect([node.pod('proxy-node-1').phase, handlers(node)]).toEqual(['Pending', []]);
    expect(events).toContain(`FailedCreatePodSandBox: ${NOT_FOUND}`);
    await ask('POST', CLASSES, gvisor);
    await node.advance('60s');
    expect([node.pod('proxy-node-1').phase, handlers(node)]).toEqual(['Running', ['runsc']]);
    expect(node.agent.pods()[0]?.spec.overhead).toBeUndefined();
  });

  test('from a directory serves static pods before the API server is up, and yields to the one of the cluster', async () => {
    const type = { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass' } as const;
    const runtimeClass = { ...gvisor, ...type, handler: 'local' };
    const { node, ask } = await joinedNode({
      parts: { readClasses: async () => new Map([['gvisor', runtimeClass]]) },
    });
    await writeStatic(node, 'proxy', classed);
    await node.advance('25s');
    expect(handlers(node)).toEqual(['local']);
    expect(node.agent.pods()[0]?.spec.overhead).toBeUndefined();
    await ask('POST', CLASSES, gvisor);
    await ask('POST', PODS, manifest('web', classed));
    await node.advance('2s');
    expect(handlers(node)).toEqual(['local', 'runsc']);
  });
});

test('a pod that is deleted and recreated during a watch outage is a different pod: the old one is terminated and the new one starts', async () => {
  const { node, ask, api, transport } = await joinedNode();
  const { metadata: first } = await ask('POST', PODS, manifest('web'));
  await node.advance('2s');
  transport.isAway = true;
  transport.cut();
  await ask('DELETE', `${PODS}/web`, { gracePeriodSeconds: 0 });
  const { metadata: second } = await ask('POST', PODS, manifest('web'));
  api.compact();
  await node.advance('20s');
  transport.isAway = false;
  await node.advance('60s');
  const uidOf = (metadata: unknown) => (metadata as { uid: string }).uid;
  expect(uidOf(second)).not.toBe(uidOf(first));
  expect(node.agent.pods().map(({ metadata: { uid } }) => uid)).toEqual([uidOf(second)]);
  const ran = node.calls('runPodSandbox').map(({ request }) => request);
  expect(ran).toMatchObject(
    [first, second].map((metadata) => ({ config: { metadata: { uid: uidOf(metadata), attempt: 0 } } })),
  );
  expect(node.errors.filter((error) => !error.includes('ECONNREFUSED'))).toEqual([]);
});
