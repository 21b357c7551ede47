/** Pods of an API server that is newer than the node, which cannot read all of their fields. */
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

/** Writes fields that only a newer server would accept. */
function edit({ registry: { store } }: Api, name: string, change: { spec?: object; metadata?: object }): void {
  const [, pod = {}] = store.list('/pods').find(([key]) => key.endsWith(`/${name}`)) ?? [];
  const { spec = {}, metadata = {} } = pod as { spec?: object; metadata?: object };
  store.put('/pods', {
    ...pod,
    spec: { ...spec, ...change.spec },
    metadata: { ...metadata, ...change.metadata },
  });
}

describe('a running pod with an unreadable newer version', () => {
  test('C32: continues to run, and the log and an event report the problem', async () => {
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

  test('C32: continues to run across an agent restart, and terminates once it is gone from the server', async () => {
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

  test('C12, C32: terminates and is removed when it is deleted', async () => {
    const { node, ask, api } = await joined();
    await ask('POST', PODS, manifest('web'));
    await node.advance('5s');
    edit(api, 'web', { spec: NEWER });
    await ask('DELETE', `${PODS}/web`);
    await node.advance('60s');
    await expect(ask('GET', `${PODS}/web`)).rejects.toThrow('404');
    expect(await node.leftovers()).toEqual([]);
  });

  test('C32: terminates when it is deleted, even if nothing is known of it after an agent restart', async () => {
    const { node, ask, api } = await joined();
    await ask('POST', PODS, manifest('web'));
    await node.advance('5s');
    edit(api, 'web', { spec: NEWER });
    await node.restartAgent();
    await ask('DELETE', `${PODS}/web`);
    await node.advance('60s');
    expect(node.runtime.contents().sandboxes).toEqual([]);
  });

  test('C32: is updated with the next readable version', async () => {
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

test('C32: a pod that was never readable does not run, and its author gets an event with the reason', async () => {
  const { node, ask, api, told } = await joined();
  node.killAgent();
  await ask('POST', PODS, manifest('web'));
  edit(api, 'web', { spec: NEWER });
  await node.restartAgent();
  await node.advance('10s');
  expect(node.calls('runPodSandbox')).toEqual([]);
  expect(told()).toHaveLength(1);
});
