import { expect, test } from '@jest/globals';
import { unsupportedKindProblem } from '../../../kubernetes/objects/unsupportedKinds.ts';

test.each([
  ['Deployment', 'write the Pod that its spec.template describes instead'],
  ['Job', 'write the Pod that its spec.template describes instead'],
  [
    'CronJob',
    'write the Pod that its spec.jobTemplate.spec.template describes instead, and let a timer of the host put its file here',
  ],
  ['Service', 'pods are reached by a hostPort or with hostNetwork instead'],
  ['Namespace', 'a pod is in the namespace that its metadata.namespace names, without anything else: leave it out'],
  ['PersistentVolumeClaim', 'a hostPath volume in the Pod gives it a directory of this node instead'],
  ['ServiceAccount', 'there is no API server here that a pod could ask: leave it out'],
  ['NetworkPolicy', 'what it governs is the business of a cluster: leave it out'],
])('an alternative to a %s is suggested', (kind, instead) => {
  expect(unsupportedKindProblem(kind)).toEqual({
    path: 'kind',
    message: `nothing is done here with a ${kind}: ${instead}`,
  });
});

test.each(['Pod', 'ConfigMap', 'Secret', 'List', 'Po', '__proto__'])('no alternative to a %s is suggested', (kind) => {
  expect(unsupportedKindProblem(kind)).toBeUndefined();
});
