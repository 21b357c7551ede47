/** A pod of a cluster that has a token in a volume: through a whole node. */
import { expect, test } from '@jest/globals';
import { joinedNode, PODS } from '../../fakes/joinedNode.ts';
import { IMAGE } from '../../fakes/pods.ts';

const tokens = { projected: { sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 3_600 } }] } };

test('it is had before the pod starts, and renewed while it runs', async () => {
  const { node, ask, transport } = await joinedNode();
  const asked = () => transport.requests.filter(({ path }) => path.endsWith('/serviceaccounts/default/token')).length;
  await ask('POST', PODS, {
    metadata: { name: 'web' },
    spec: {
      ...{ nodeName: 'node-1', automountServiceAccountToken: false, volumes: [{ name: 'v', ...tokens }] },
      containers: [{ name: 'main', image: IMAGE, volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
    },
  });
  await node.advance('2s');
  expect(await ask('GET', `${PODS}/web`)).toMatchObject({ status: { phase: 'Running' } });
  expect(asked()).toBe(1);
  expect(JSON.stringify(node.agent.explain('web'))).toContain('the next renewal of its token');
  await node.advance('49m');
  expect(asked()).toBe(2);
  await ask('DELETE', `${PODS}/web`, { gracePeriodSeconds: 1 });
  await node.advance('10s');
  expect(await node.leftovers()).toEqual([]);
  expect(node.errors).toEqual([]);
});
