import { expect, test } from '@jest/globals';
import { labelFixes, registeredNode, registrationPatch } from '../../../kubernetes/node/registeredNode.ts';
import { aNode } from '../nodes.ts';

const MARK = { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' };
const BY_CONTROLLER = { attachesByController: true };
const OWN = { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' };

test('a Node is created without UID and timestamp, with volumes attached by the controller', () => {
  const { metadata, spec, status, ...kind } = registeredNode(aNode(), BY_CONTROLLER);
  expect(kind).toEqual({ apiVersion: 'v1', kind: 'Node' });
  expect(metadata).toEqual({ name: 'host', labels: { ...OWN, 'node-role.kubernetes.io/edge': '' }, annotations: MARK });
  expect(spec).toEqual({ taints: [{ key: 'dedicated', value: 'db', effect: 'NoSchedule' }] });
  expect(status).toEqual(aNode().status);
});

test('a correct Node needs no patch, whatever labels other components have added', () => {
  const found = { labels: { ...OWN, 'example.com/rack': '7' }, annotations: { ...MARK, 'example.com/note': 'x' } };
  expect(registrationPatch(aNode(), served(found), BY_CONTROLLER)).toBeUndefined();
});

test('only wrong fields are corrected', () => {
  const labels = { ...OWN, 'kubernetes.io/arch': 'arm64' };
  expect(registrationPatch(aNode(), served({ labels, annotations: MARK }), BY_CONTROLLER)).toEqual({
    metadata: { labels: { 'kubernetes.io/arch': 'amd64' } },
  });
  expect(registrationPatch(aNode(), served({ labels: OWN, annotations: falsely(MARK) }), BY_CONTROLLER)).toEqual({
    metadata: { annotations: MARK },
  });
});

test('missing labels and annotations of the node are added, except those for administrators', () => {
  expect(registrationPatch(aNode(), served({}), BY_CONTROLLER)).toEqual({
    metadata: { labels: OWN, annotations: MARK },
  });
});

test('C33: the attach annotation is removed or left out without enableControllerAttachDetach', () => {
  const byNode = { attachesByController: false };
  expect(registeredNode(aNode(), byNode).metadata).toEqual({ name: 'host', labels: aNode().metadata.labels });
  const patchOf = (annotations: Record<string, string>) =>
    registrationPatch(aNode(), served({ labels: OWN, annotations }), byNode);
  expect(patchOf({ 'example.com/note': 'x' })).toBeUndefined();
  for (const left of [MARK, falsely(MARK)]) {
    expect(patchOf(left)).toEqual({
      metadata: { annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': null } },
    });
  }
});

test('a label that the node does not have is ignored', () => {
  const found = { labels: { 'kubernetes.io/hostname': 'else' }, annotations: MARK };
  expect(registrationPatch(aNode({ labels: {} }), served(found), BY_CONTROLLER)).toBeUndefined();
});

test('huge page sizes that no longer exist are removed, and unknown devices are set to 0', () => {
  const gone = { 'hugepages-1Gi': '0', 'example.com/gpu': '2', 'example.com/old': '0', 'kubernetes.io/batch': '3' };
  const { capacity, allocatable } = aNode().status;
  const status = { capacity: { ...capacity, ...gone }, allocatable: { ...allocatable, 'example.com/gpu': '2' } };
  expect(registrationPatch(aNode(), { metadata: { labels: OWN, annotations: MARK }, status }, BY_CONTROLLER)).toEqual({
    status: { capacity: { 'hugepages-1Gi': null, 'example.com/gpu': '0' }, allocatable: { 'example.com/gpu': '0' } },
  });
});

test('only the operating system and architecture are corrected after the registration', () => {
  expect(labelFixes(aNode(), { ...OWN, 'kubernetes.io/hostname': 'else' })).toEqual({});
  expect(labelFixes(aNode(), { 'kubernetes.io/os': 'windows' })).toEqual(OWN);
  expect(labelFixes(aNode())).toEqual(OWN);
});

/** Returns a Node with this metadata and the node's own status. */
const served = (metadata: Parameters<typeof registrationPatch>[1]['metadata']) => ({
  metadata,
  status: JSON.parse(JSON.stringify(aNode().status)),
});

const falsely = (texts: object) => Object.fromEntries(Object.keys(texts).map((name) => [name, 'false']));
