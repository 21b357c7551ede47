import { expect, test } from '@jest/globals';
import { registeredNode, wantedOfRegistered } from '../../../pod/node/registeredNode.ts';
import { aNode } from '../nodes.ts';

const MARK = { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' };
const OWN = { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' };

test('a node is registered without a UID and a time, which are the server’s to give, and lets a controller attach volumes', () => {
  const { metadata, spec, status, ...kind } = registeredNode(aNode());
  expect(kind).toEqual({ apiVersion: 'v1', kind: 'Node' });
  expect(metadata).toEqual({ name: 'host', labels: { ...OWN, 'node-role.kubernetes.io/edge': '' }, annotations: MARK });
  expect(spec).toEqual({ taints: [{ key: 'dedicated', value: 'db', effect: 'NoSchedule' }] });
  expect(status).toEqual(aNode().status);
});

test('of a Node that is as it should be nothing is wanted, whatever labels others have added', () => {
  const found = { labels: { ...OWN, 'example.com/rack': '7' }, annotations: { ...MARK, 'example.com/note': 'x' } };
  expect(wantedOfRegistered(aNode(), found)).toBeUndefined();
});

test('of one that says something wrong only that is wanted otherwise', () => {
  const labels = { ...OWN, 'kubernetes.io/arch': 'arm64' };
  expect(wantedOfRegistered(aNode(), { labels, annotations: MARK })).toEqual({
    labels: { 'kubernetes.io/arch': 'amd64' },
  });
  expect(wantedOfRegistered(aNode(), { labels: OWN, annotations: { ...MARK, ...falsely(MARK) } })).toEqual({
    annotations: MARK,
  });
});

test('of one that says nothing all is wanted that is for the node to say, but not the labels that are for its maker', () => {
  expect(wantedOfRegistered(aNode(), {})).toEqual({ labels: OWN, annotations: MARK });
});

test('a label that the node does not have is not wanted', () => {
  const found = { labels: { 'kubernetes.io/hostname': 'else' }, annotations: MARK };
  expect(wantedOfRegistered(aNode({ labels: {} }), found)).toBeUndefined();
});

const falsely = (texts: object) => Object.fromEntries(Object.keys(texts).map((name) => [name, 'false']));
