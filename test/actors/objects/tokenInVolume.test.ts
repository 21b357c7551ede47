/** A projected token in a volume of a cluster's pod, on a complete node. */
import { expect, test } from '@jest/globals';
import { boundPod, joinedNode, PODS } from '../../fakes/joinedNode.ts';
import { IMAGE } from '../../fakes/pods.ts';

const tokens = { projected: { sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 3_600 } }] } };

test('a projected token is available before the pod starts, and is renewed while it runs', async () => {
  const { node, ask, transport } = await joinedNode();
  const tokenRequestCount = () =>
    transport.requests.filter(({ path }) => path.endsWith('/serviceaccounts/default/token')).length;
  await ask('POST', PODS, {
    metadata: { name: 'web' },
    spec: {
      nodeName: 'node-1',
      automountServiceAccountToken: false,
      volumes: [{ name: 'v', ...tokens }],
      containers: [{ name: 'main', image: IMAGE, volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
    },
  });
  await node.advance('2s');
  expect(await ask('GET', `${PODS}/web`)).toMatchObject({ status: { phase: 'Running' } });
  expect(tokenRequestCount()).toBe(1);
  expect(JSON.stringify(node.agent.explain('web'))).toContain('the next renewal of its token');
  await node.advance('49m');
  expect(tokenRequestCount()).toBe(2);
  await ask('DELETE', `${PODS}/web`, { gracePeriodSeconds: 1 });
  await node.advance('10s');
  expect(await node.leftovers()).toEqual([]);
  expect(node.errors).toEqual([]);
});

test('a token volume shows the expiry of its token, and the reason of a failed renewal until a renewal succeeds', async () => {
  const { node, ask, api } = await joinedNode();
  const volumes = [{ name: 'v', ...tokens }];
  const containers = [{ name: 'main', image: IMAGE, volumeMounts: [{ name: 'v', mountPath: '/v' }] }];
  const began = node.clock.now();
  await ask('POST', PODS, boundPod('web', { volumes, containers }));
  await node.advance('2s');
  const shown = () => {
    const volume = node.agent.explain('web')?.pod.children.find(({ kind }) => kind === 'volume');
    if (volume === undefined) throw new Error('the pod shows no volume');
    return volume;
  };
  const [fact = ''] = shown().facts;
  const until = Date.parse(/^token good until (.+)$/.exec(fact)?.[1] ?? '');
  expect(Math.abs(until - began - 3_600_000)).toBeLessThan(3_000);
  expect(shown()).not.toHaveProperty('lastFailure');
  const heal = api.faults.add({
    fault: { kind: 'refused', code: 500 },
    matches: (request) => 'subresource' in request && request.subresource === 'token',
  });
  await node.advance('49m');
  expect(shown()).toMatchObject({
    state: 'mounted.awaitingRenewal',
    tags: expect.arrayContaining(['steady']),
    facts: [fact],
    until: expect.any(Number),
    lastFailure: { reason: 'FailedRead', message: expect.any(String) },
  });
  const { metadata } = await ask('GET', `${PODS}/web`);
  const { uid } = metadata as { uid: string };
  expect(node.agent.explainPart(uid, { kind: 'volume', name: 'v' })?.answer).toMatch(
    /^volume v is mounted, and waiting for the next renewal of its token: FailedRead: .*; next attempt at /,
  );
  heal();
  await node.advance('2m');
  expect(shown()).not.toHaveProperty('lastFailure');
  expect(shown().facts).not.toEqual([fact]);
  await ask('DELETE', `${PODS}/web`, { gracePeriodSeconds: 1 });
  await node.advance('10s');
});
