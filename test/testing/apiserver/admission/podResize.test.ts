import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import { DECLARED_FEATURES } from '../../../../kubernetes/node/declaredFeatures.ts';
import { ApiServer } from '../../../../testing/apiserver/apiServer.ts';
import type { JsonObject } from '../../../../testing/apiserver/json.ts';

const PODS = '/api/v1/namespaces/default/pods';
const INIT_CONTAINERS = 'InPlacePodVerticalScalingInitContainers';

/**
 * Starts a server with a node that declares these features and a pod on that node, and resizes the pod's init
 * container.
 */
async function resized(declaredFeatures: readonly string[], init: JsonObject, resources: JsonObject) {
  const server = await ApiServer.start(new SimulatedClock());
  await server.request('POST', '/api/v1/nodes', { metadata: { name: 'node-1' }, status: { declaredFeatures } });
  const container = { name: 'main', image: 'a', resources: { requests: { cpu: '1' } } };
  const spec = {
    nodeName: 'node-1',
    containers: [container],
    initContainers: [{ ...container, name: 'init', ...init }],
  };
  const created = await server.request('POST', PODS, { metadata: { name: 'web' }, spec });
  expect(created.kind).toBe('Pod');
  const patch = { spec: { initContainers: [{ name: 'init', resources }] } };
  return server.request('PATCH', `${PODS}/web/resize`, patch, 'application/strategic-merge-patch+json');
}

const more = { requests: { cpu: '2' } };

test('C34: an API server resizes an init container only on a node that declares the feature', async () => {
  const answer = await resized(DECLARED_FEATURES, {}, more);
  expect(answer).toMatchObject({ kind: 'Pod', spec: { initContainers: [{ resources: more }] } });
  const others = DECLARED_FEATURES.filter((name) => name !== INIT_CONTAINERS);
  await expect(resized(others, {}, more)).rejects.toThrow(
    `pods "web" is forbidden: pod update requires features ${INIT_CONTAINERS} which are not available on node "node-1"`,
  );
  expect((await resized(others, { restartPolicy: 'Always' }, more)).kind).toBe('Pod');
});

test('C25: a resize of an init container cannot change resources other than cpu and memory', async () => {
  const other = { requests: { cpu: '1', 'ephemeral-storage': '1Gi' } };
  await expect(resized(DECLARED_FEATURES, {}, other)).rejects.toThrow(
    'Pod "web" is invalid: spec.initContainers[0]: Forbidden: only cpu and memory resources for init or sidecar containers are mutable',
  );
});
