import { expect, test } from '@jest/globals';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';
import type { ObservedMirror } from '../../../../kubernetes/mirror.ts';
import { namedPod, nodeStory } from '../../support/nodeStory.ts';

const HASH = 'kubernetes.io/config.hash';
const SOURCE = 'kubernetes.io/config.source';

function staticPod(name: string, hash = `${name}-uid`): Pod {
  const pod = namedPod(name, {}, hash);
  return { ...pod, metadata: { ...pod.metadata, annotations: { [HASH]: hash, [SOURCE]: 'file' } } };
}

const mirrorOf = (pod: Pod, hash = pod.metadata.uid): ObservedMirror => ({
  namespace: pod.metadata.namespace,
  name: pod.metadata.name,
  uid: `mirror-of-${hash}`,
  hash,
  isDeleting: false,
});

/** Creates a node in a cluster that also has static pods. */
function mirrorStory() {
  const story = nodeStory({
    cluster: { leaseMs: 40_000, statusCheckMs: 10_000 },
    sources: ['file', 'api'],
    held: ['createMirror', 'removeMirror', 'registerNode'],
  });
  return {
    ...story,
    see: (...mirrors: ObservedMirror[]) => story.tell({ type: 'config.mirrorsChanged', mirrors }),
    unreadable: (source: string) => story.tell({ type: 'config.sourceUnread', source, problems: [] }),
    asks: () => [story.ports.asked('createMirror').length, story.ports.asked('removeMirror').length],
    mirror: (name: string) => story.own(`default/${name}`)?.state,
  };
}

test('C31: static pods get mirror pods once the node is registered, even if the API server does not respond', () => {
  const { list, want, unreadable, asks, ports, mirror } = mirrorStory();
  list();
  want([staticPod('web')]);
  unreadable('api');
  expect(mirror('web')).toBe('awaitingNode');
  ports.answer('registerNode', { uid: 'node-uid', events: [] });
  expect([mirror('web'), asks()]).toEqual(['creating', [1, 0]]);
});

test('C31: no mirror is created while the Node is being deleted; a new Node has mirrors again', () => {
  const { list, want, unreadable, asks, ports, mirror, tell } = mirrorStory();
  const node = { uid: 'node-uid', labels: {}, taints: [], isUnreachable: false };
  list();
  want([staticPod('web')]);
  unreadable('api');
  tell({ type: 'cluster.nodeSeen', node: { ...node, isBeingDeleted: true }, at: 1 });
  ports.answer('registerNode', { uid: 'node-uid', events: [] });
  expect([mirror('web'), asks()]).toEqual(['awaitingNode', [0, 0]]);
  tell({ type: 'cluster.nodeSeen', node: { ...node, uid: 'new-uid' }, at: 2 });
  expect([mirror('web'), asks()]).toEqual(['creating', [1, 0]]);
});

test('C31: a mirror pod whose static pod may still be listed remains', () => {
  const { list, want, see, unreadable, asks, mirror } = mirrorStory();
  list();
  see(mirrorOf(staticPod('web')));
  want([], 'api');
  unreadable('file');
  expect([mirror('web'), asks()]).toEqual(['deferred', [0, 0]]);
  want([]);
  expect([mirror('web'), asks()]).toEqual(['removing', [0, 1]]);
});

test('C31: nothing is created or removed before the runtime is listed', () => {
  const { want, see, asks, mirror, list } = mirrorStory();
  want([staticPod('web')]);
  want([], 'api');
  see(mirrorOf(staticPod('db')));
  expect([mirror('web'), mirror('db'), asks()]).toEqual([undefined, undefined, [0, 0]]);
  list();
  expect([mirror('web'), mirror('db'), asks()]).toEqual(['awaitingNode', 'removing', [0, 1]]);
});

test('C31: a name with neither a static pod nor a mirror pod has no actor', () => {
  const { list, want, see, mirror } = mirrorStory();
  list();
  want([], 'api');
  want([]);
  see(mirrorOf(staticPod('web')));
  expect(mirror('web')).toBe('removing');
  see();
  expect(mirror('web')).toBeUndefined();
});

test('C31: pods of the API server have no mirror pods, and a node without a cluster creates none', () => {
  const inCluster = mirrorStory();
  inCluster.list();
  inCluster.want([]);
  inCluster.want([namedPod('web')], 'api');
  expect(inCluster.mirror('web')).toBeUndefined();
  const alone = nodeStory();
  alone.list();
  alone.want([staticPod('web')]);
  expect(alone.own('default/web')).toBeUndefined();
});
