import { expect, test } from '@jest/globals';
import { admissionMachine } from '../../../machines/admission/chart.ts';
import { waitDescription } from '../../../machines/admission/context.ts';
import { admissionNode } from '../../../machines/node/context.ts';
import type { AdmissionResult } from '../../../machines/shared/events/events.ts';
import { provideActors } from '../../../machines/shared/ports.ts';
import { statePath } from '../../../machines/shared/stateMeta.ts';
import { FakePorts } from '../../fakes/ports.ts';
import { aPod, requestsWith } from '../../kubernetes/fixtures.ts';
import { asker, childOf, ear, START } from '../support/stand.ts';

const capacity = { cpuMillis: 1_000, memoryBytes: 2 ** 30, pods: 10 };

/** Creates the admission of a node whose cached labels say zone a. The test responds for the API server. */
function admissionStory({ hasCluster = true } = {}) {
  const ports = new FakePorts(START);
  const node = { ...admissionNode({ nodeName: 'node' }), labels: { zone: 'a' } };
  const input = { capacity, node, hasCluster };
  const id = 'admission';
  const of = childOf(ear().ref, provideActors(admissionMachine, ports), { id, systemId: id, input }).start();
  const ask = (uid: string, zone: string, cpuMillis = 0) => {
    const { holder, heard } = asker<AdmissionResult>(of);
    const pod = aPod({ nodeSelector: { zone } });
    const requests = requestsWith({ cpuMillis });
    const request = { uid, fullName: `default/${uid}`, pod, requests, isAdopted: false, holder };
    of.send({ type: 'admission.request', ...request });
    return () => heard().map((answer) => ('reason' in answer ? answer.reason : 'admitted'));
  };
  const seen = (zone: string) => ({ uid: 'u', labels: { zone }, taints: [], isUnreachable: false });
  return {
    ports,
    ask,
    send: of.send,
    answer: (zone: string) => ports.answer('readNode', seen(zone)),
    asks: () => ports.asked('readNode').length,
    state: () => statePath(of.getSnapshot().value),
    waitOf: (uid: string) => waitDescription(of.getSnapshot().context, uid),
  };
}

test('C24: the Node is read again before a pod is rejected for its labels alone, and the new labels admit the pod', () => {
  const { ask, answer, asks, state, waitOf } = admissionStory();
  const pod = ask('web', 'b');
  expect([state(), asks(), pod()]).toEqual(['readingNode', 1, []]);
  expect(waitOf('web')).toBe('the API server to return the labels of the node, because the known ones do not match');
  answer('b');
  expect([state(), asks(), pod()]).toEqual(['open', 1, ['admitted']]);
});

test('C24: the pod is rejected if the labels have not changed or the read fails, and the Node is read only once', () => {
  const { ask, answer, asks, ports, send } = admissionStory();
  const [one, other] = [ask('web', 'b'), ask('job', 'b')];
  answer('a');
  expect([one(), other(), asks()]).toEqual([['NodeAffinity'], [], 2]);
  ports.fail('readNode', 'InternalError');
  expect([other(), asks()]).toEqual([['NodeAffinity'], 2]);
  send({ type: 'admission.nodeChanged', node: { labels: { zone: 'b' } } });
  expect(ask('late', 'b')()).toEqual(['admitted']);
});

test('other pods are decided meanwhile, and resources are reserved for the pod that waits for the read', () => {
  const { ask, answer } = admissionStory();
  const pod = ask('web', 'b', 600);
  expect(ask('small', 'a', 400)()).toEqual(['admitted']);
  expect(ask('large', 'a', 500)()).toEqual(['OutOfcpu']);
  answer('b');
  expect(pod()).toEqual(['admitted']);
});

test('no decision is sent to a pod that is removed before the read completes', () => {
  const { ask, answer, send, state } = admissionStory();
  const pod = ask('web', 'b');
  send({ type: 'admission.release', uid: 'web' });
  answer('b');
  expect([state(), pod()]).toEqual(['open', []]);
});

test('the Node is not read if there is another reason for the rejection, or no cluster', () => {
  const { ask, asks } = admissionStory();
  expect([ask('web', 'b', 2_000)(), asks()]).toEqual([['OutOfcpu'], 0]);
  const alone = admissionStory({ hasCluster: false });
  expect([alone.ask('web', 'b')(), alone.asks()]).toEqual([['NodeAffinity'], 0]);
});
