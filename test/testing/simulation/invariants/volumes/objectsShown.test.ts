import { expect, test } from '@jest/globals';
import { objectsShown } from '../../../../../testing/simulation/invariants/volumes/objectsShown.ts';
import { container, manifest } from '../../../../../testing/simulation/stories/manifests.ts';
import { clusterNode, MINUTE, SECOND } from '../../cluster/clusterNode.ts';

const volumeMounts = [
  { name: 'config', mountPath: '/config' },
  { name: 'token', mountPath: '/token' },
];
const pod = (name: string) =>
  manifest(name, {
    containers: [container('main', { volumeMounts })],
    volumes: [
      { name: 'config', configMap: { name: 'config' } },
      { name: 'token', projected: { sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 600 } }] } },
    ],
  });

/**
 * Creates two pods that each mount an object and a token, with functions by which somebody else changes their files.
 */
async function tampered() {
  const made = await clusterNode({ invariants: [objectsShown] });
  const { node, host, cluster } = made;
  node.perform({ kind: 'putObject', object: { of: 'ConfigMap', name: 'config', data: { a: '1' } } });
  for (const name of ['web', 'other']) node.perform({ kind: 'createPod', pod: pod(name) });
  await node.advance(10 * SECOND);
  const fileOf = (name: string, path: string) => {
    const { uid } = cluster.pods().find((each) => each.name === name) ?? { uid: '' };
    return `/simulated/lib/pods/${uid}/volumes/kubernetes.io~${path}`;
  };
  const read = (path: string) => host.disk.fileAt(path, 'open').data;
  const write = (path: string, data: Buffer) => host.disk.write(host.disk.fileAt(path, 'open'), data, path);
  /** Returns the violation at rest, or an empty string. */
  const violationAtRest = () => {
    try {
      node.check({ isAtRest: true });
      return '';
    } catch (error) {
      return String(error).replace(/^.*ms: /, '');
    }
  };
  return { ...made, fileOf, read, write, violationAtRest };
}

test('a volume exposes exactly the content of its object', async () => {
  const { node, write, fileOf, violationAtRest } = await tampered();
  expect(violationAtRest()).toBe('');
  write(fileOf('web', 'configmap/config/a'), Buffer.from('0'));
  expect(violationAtRest()).toBe('web: its volume config shows [["a","0"]] instead of [["a","1"]]');
  write(fileOf('web', 'configmap/config/a'), Buffer.from('1'));
  node.host.disk.link('..data/b', fileOf('web', 'configmap/config/b'));
  expect(violationAtRest()).toBe('web: its volume config shows [["a","1"],["b","nothing"]] instead of [["a","1"]]');
  node.kill();
});

test('a token in a volume is valid and bound to its pod', async () => {
  const { node, cluster, read, write, fileOf, violationAtRest } = await tampered();
  const path = 'projected/token/token';
  const own = read(fileOf('web', path));
  write(fileOf('web', path), read(fileOf('other', path)));
  const other = cluster.pods().find(({ name }) => name === 'other');
  expect(violationAtRest()).toBe(`web: its token at token is bound to ${other?.uid}`);
  write(fileOf('web', path), Buffer.from(''));
  expect(violationAtRest()).toContain('is bound to no pod');
  write(fileOf('web', path), own);
  expect(violationAtRest()).toBe('');
  node.kill();
});

test('an expired token is detected while the node runs, if nothing has failed', async () => {
  const { node, read, write, fileOf } = await tampered();
  const path = fileOf('web', 'projected/token/token');
  const first = read(path);
  await node.advance(9 * MINUTE);
  write(fileOf('web', 'projected/token/token'), first);
  await expect(node.advance(5 * MINUTE)).rejects.toThrow(/web: its token at token expired \d/);
  node.kill();
});
