/** Pods of an API server that is newer than the node, which cannot read all of what they say. */
import { describe, expect, test } from '@jest/globals';
import type { RecordedEvent } from '../../../kubernetes/events/recordedEvent.ts';
import type { Api } from '../../../testing/apiserver/api.ts';
import { joinedNode, boundPod as manifest, PODS } from '../../fakes/joinedNode.ts';

const NEWER = { restartPolicy: 'Sometimes' };

async function joined() {
  const all: RecordedEvent[] = [];
  const made = await joinedNode({ parts: { events: (event) => void all.push(event) } });
  return { ...made, told: () => all.filter(({ reason }) => reason === 'FailedValidation') };
}

/** Writes what only a newer server takes. */
function edit({ registry: { store } }: Api, name: string, change: { spec?: object; metadata?: object }): void {
  const [, pod = {}] = store.list('/pods').find(([key]) => key.endsWith(`/${name}`)) ?? [];
  const { spec = {}, metadata = {} } = pod as { spec?: object; metadata?: object };
  store.put('/pods', {
    ...pod,
    spec: { ...spec, ...change.spec },
    metadata: { ...metadata, ...change.metadata },
  });
}

describe('a pod that runs, of which a later version cannot be read', () => {
  test('C32: goes on as it was, and the log and an event say what is wrong', async () => {
    const { node, ask, api, told } = await joined();
    await ask('POST', PODS, manifest('web'));
    await node.advance('5s');
    edit(api, 'web', { spec: NEWER });
    await node.advance('60s');
    expect(node.calls('stopContainer')).toEqual([]);
    expect(await ask('GET', `${PODS}/web`)).toMatchObject({ status: { phase: 'Running' } });
    expect(node.manifestProblems).toEqual([expect.stringContaining('spec.restartPolicy: Unsupported value')]);
    expect(told()).toMatchObject([
      {
        eventType: 'Warning',
        involved: { kind: 'Pod', namespace: 'default', name: 'web' },
        message: expect.stringMatching(
          /^Error validating pod web_default\(\S+\) from api, ignoring: spec\.restartPolicy/,
        ),
      },
    ]);
  });

  test('C32: goes on over a restart of the agent, and ends once it is gone at the server', async () => {
    const { node, ask, api } = await joined();
    await ask('POST', PODS, manifest('web'));
    await node.advance('5s');
    edit(api, 'web', { spec: NEWER });
    await node.advance('1s');
    await node.restartAgent();
    await node.advance('60s');
    expect(node.calls('stopContainer')).toEqual([]);
    await ask('DELETE', `${PODS}/web`, { gracePeriodSeconds: 0 });
    await node.advance('60s');
    expect(await node.leftovers()).toEqual([]);
  });

  test('C12, C32: ends when it is deleted, and goes', async () => {
    const { node, ask, api } = await joined();
    await ask('POST', PODS, manifest('web'));
    await node.advance('5s');
    edit(api, 'web', { spec: NEWER });
    await ask('DELETE', `${PODS}/web`);
    await node.advance('60s');
    await expect(ask('GET', `${PODS}/web`)).rejects.toThrow('404');
    expect(await node.leftovers()).toEqual([]);
  });

  test('C32: of which a restart of the agent has left nothing known, ends all the same when it is deleted', async () => {
    const { node, ask, api } = await joined();
    await ask('POST', PODS, manifest('web'));
    await node.advance('5s');
    edit(api, 'web', { spec: NEWER });
    await node.restartAgent();
    await ask('DELETE', `${PODS}/web`);
    await node.advance('60s');
    expect(node.runtime.contents().sandboxes).toEqual([]);
  });

  test('C32: is up to date again with the next version that can be read', async () => {
    const { node, ask, api } = await joined();
    await ask('POST', PODS, manifest('web'));
    await node.advance('5s');
    edit(api, 'web', { spec: NEWER });
    await node.advance('1s');
    edit(api, 'web', { spec: { restartPolicy: 'Always' }, metadata: { labels: { tier: 'front' } } });
    await node.advance('1s');
    expect(node.agent.pods()).toMatchObject([{ metadata: { labels: { tier: 'front' } } }]);
    expect(node.agent.overview().problems).toEqual([]);
  });
});

test('C32: a pod that was never read is not run, and its author hears why', async () => {
  const { node, ask, api, told } = await joined();
  node.killAgent();
  await ask('POST', PODS, manifest('web'));
  edit(api, 'web', { spec: NEWER });
  await node.restartAgent();
  await node.advance('10s');
  expect(node.calls('runPodSandbox')).toEqual([]);
  expect(told()).toHaveLength(1);
});
