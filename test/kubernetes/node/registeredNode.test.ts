import { expect, test } from '@jest/globals';
import { registeredNode, wantedOfRegistered, wrongLabels } from '../../../kubernetes/node/registeredNode.ts';
import { aNode } from '../nodes.ts';

const MARK = { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' };
const BY_CONTROLLER = { attachesByController: true };
const OWN = { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' };

test('a node is registered without a UID and a time, which are the server’s to give, and lets a controller attach volumes', () => {
  const { metadata, spec, status, ...kind } = registeredNode(aNode(), BY_CONTROLLER);
  expect(kind).toEqual({ apiVersion: 'v1', kind: 'Node' });
  expect(metadata).toEqual({ name: 'host', labels: { ...OWN, 'node-role.kubernetes.io/edge': '' }, annotations: MARK });
  expect(spec).toEqual({ taints: [{ key: 'dedicated', value: 'db', effect: 'NoSchedule' }] });
  expect(status).toEqual(aNode().status);
});

test('of a Node that is as it should be nothing is wanted, whatever labels others have added', () => {
  const found = { labels: { ...OWN, 'example.com/rack': '7' }, annotations: { ...MARK, 'example.com/note': 'x' } };
  expect(wantedOfRegistered(aNode(), served(found), BY_CONTROLLER)).toBeUndefined();
});

test('of one that says something wrong only that is wanted otherwise', () => {
  const labels = { ...OWN, 'kubernetes.io/arch': 'arm64' };
  expect(wantedOfRegistered(aNode(), served({ labels, annotations: MARK }), BY_CONTROLLER)).toEqual({
    metadata: { labels: { 'kubernetes.io/arch': 'amd64' } },
  });
  expect(wantedOfRegistered(aNode(), served({ labels: OWN, annotations: falsely(MARK) }), BY_CONTROLLER)).toEqual({
    metadata: { annotations: MARK },
  });
});

test('of one that says nothing all is wanted that is for the node to say, but not the labels that are for its maker', () => {
  expect(wantedOfRegistered(aNode(), served({}), BY_CONTROLLER)).toEqual({
    metadata: { labels: OWN, annotations: MARK },
  });
});

test('C33: without enableControllerAttachDetach a Node has no annotation about attaching, also one that had it before', () => {
  const byNode = { attachesByController: false };
  expect(registeredNode(aNode(), byNode).metadata).toEqual({ name: 'host', labels: aNode().metadata.labels });
  const patchOf = (annotations: Record<string, string>) =>
    wantedOfRegistered(aNode(), served({ labels: OWN, annotations }), byNode);
  expect(patchOf({ 'example.com/note': 'x' })).toBeUndefined();
  for (const left of [MARK, falsely(MARK)]) {
    expect(patchOf(left)).toEqual({
      metadata: { annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': null } },
    });
  }
});

test('a label that the node does not have is not wanted', () => {
  const found = { labels: { 'kubernetes.io/hostname': 'else' }, annotations: MARK };
  expect(wantedOfRegistered(aNode({ labels: {} }), served(found), BY_CONTROLLER)).toBeUndefined();
});

test('huge pages of a size that the host has no more go, and devices of which nobody has told are none', () => {
  const gone = { 'hugepages-1Gi': '0', 'example.com/gpu': '2', 'example.com/old': '0', 'kubernetes.io/batch': '3' };
  const { capacity, allocatable } = aNode().status;
  const status = { capacity: { ...capacity, ...gone }, allocatable: { ...allocatable, 'example.com/gpu': '2' } };
  expect(wantedOfRegistered(aNode(), { metadata: { labels: OWN, annotations: MARK }, status }, BY_CONTROLLER)).toEqual({
    status: { capacity: { 'hugepages-1Gi': null, 'example.com/gpu': '0' }, allocatable: { 'example.com/gpu': '0' } },
  });
});

test('whenever it looks, a node sets its system and architecture right, and no other label', () => {
  expect(wrongLabels(aNode(), { ...OWN, 'kubernetes.io/hostname': 'else' })).toEqual({});
  expect(wrongLabels(aNode(), { 'kubernetes.io/os': 'windows' })).toEqual(OWN);
  expect(wrongLabels(aNode())).toEqual(OWN);
});

/** A Node with this metadata, and what a node has of itself. */
const served = (metadata: Parameters<typeof wantedOfRegistered>[1]['metadata']) => ({
  metadata,
  status: JSON.parse(JSON.stringify(aNode().status)),
});

const falsely = (texts: object) => Object.fromEntries(Object.keys(texts).map((name) => [name, 'false']));
