import { expect, test } from '@jest/globals';
import { StatusResponses } from '../../../../actors/cluster/pods/statusResponses.ts';

const pod = { uid: 'u', isStatic: false };
const staticPod = { uid: 'u', isStatic: true };
const ready = (status: string) => ({ type: 'Ready', status, lastProbeTime: null });
const seen = (version: number, status: object, uid = 'u') => ({
  metadata: { uid, resourceVersion: String(version) },
  status: { phase: 'Running', ...status },
});

function readyResponses() {
  const responses = new StatusResponses();
  responses.record('u', seen(10, { conditions: [ready('True')] }));
  return responses;
}

test('a status that other clients have edited is detected once', () => {
  const responses = readyResponses();
  expect(responses.hasUnedited(pod)).toBe(true);
  expect(responses.findEdited([seen(11, { conditions: [ready('False')] })])).toEqual(['u']);
  expect(responses.hasUnedited(pod)).toBe(false);
  expect(responses.findEdited([seen(12, { conditions: [ready('False')] })])).toEqual([]);
  responses.record('u', seen(13, { conditions: [ready('True')] }));
  expect(responses.findEdited([seen(14, { conditions: [ready('False')] })])).toEqual(['u']);
});

test('conditions and fields that other clients own do not count as edits', () => {
  const others = { conditions: [ready('True'), { type: 'example.com/gate', status: 'True' }], qosClass: 'Burstable' };
  expect(readyResponses().findEdited([seen(11, others)])).toEqual([]);
});

test('a watch event older than the response is ignored', () => {
  expect(readyResponses().findEdited([seen(9, { conditions: [ready('False')] })])).toEqual([]);
});

test('an unchanged pod is not inspected again', () => {
  const responses = readyResponses();
  let reads = 0;
  const object = {
    ...seen(11, {}),
    get status() {
      reads += 1;
      return { phase: 'Running', conditions: [ready('True')] };
    },
  };
  expect(responses.findEdited([object])).toEqual([]);
  const first = reads;
  expect(first).toBeGreaterThan(0);
  expect(responses.findEdited([object])).toEqual([]);
  expect(responses.latestVersion('u', object)).toMatchObject({ metadata: { resourceVersion: '11' } });
  expect(reads).toBe(first);
});

test('a field that the server never stored does not count as an edit', () => {
  const responses = new StatusResponses();
  responses.record('u', seen(10, {}));
  expect(responses.findEdited([seen(11, {})])).toEqual([]);
  expect(responses.hasUnedited(pod)).toBe(true);
});

test('a response is not attributed to a different pod', () => {
  expect(readyResponses().hasUnedited({ ...pod, uid: 'v' })).toBe(false);
});

test('the response for a mirror pod is found by the UID of its static pod', () => {
  const responses = new StatusResponses();
  responses.record('u', seen(10, {}, 'mirror'));
  expect(responses.hasUnedited(staticPod)).toBe(true);
  expect(responses.hasUnedited({ ...staticPod, uid: 'mirror' })).toBe(false);
});

test('responses for removed pods are forgotten', () => {
  const responses = readyResponses();
  expect(responses.findEdited([])).toEqual([]);
  expect(responses.hasUnedited(pod)).toBe(false);
});

test('responses for replaced pods are forgotten', () => {
  const responses = readyResponses();
  expect(responses.findEdited([seen(1, {}, 'v'), seen(1, {}, 'w')])).toEqual([]);
  expect(responses.hasUnedited(pod)).toBe(false);
});

test('an edited status of a mirror pod is attributed to its static pod', () => {
  const responses = new StatusResponses();
  responses.record('u', seen(10, { conditions: [ready('True')] }, 'mirror'));
  expect(responses.findEdited([seen(11, { conditions: [ready('False')] }, 'mirror')])).toEqual(['u']);
});
