import { expect, test } from '@jest/globals';
import { eventFields, nodeFields, podFields } from '../../../../kubernetes/api/selection/selectableFields.ts';
import { coreEvent } from '../../../../kubernetes/events/event.ts';
import { involvedNode, recordedEvent } from '../../../../kubernetes/events/recordedEvent.ts';
import { NOW, podView, running } from '../../views.ts';

test('a pod is selected by the fields that an API server supports', () => {
  const { pod } = podView({
    main: { web: running() },
    meta: { name: 'web-host', namespace: 'shop' },
    spec: { nodeName: 'host', restartPolicy: 'Never' },
  });
  const status = { ...pod.status, phase: 'Running' as const, podIPs: [{ ip: '10.1.0.2' }, { ip: 'fd00::2' }] };
  const values = [...podFields].map(([field, read]) => [field, read({ ...pod, status })]);
  expect(Object.fromEntries(values)).toMatchObject({
    'metadata.name': 'web-host',
    'metadata.namespace': 'shop',
    'spec.nodeName': 'host',
    'spec.restartPolicy': 'Never',
    'spec.hostNetwork': 'false',
    'status.phase': 'Running',
    'status.podIP': '10.1.0.2',
  });
});

test('an event is selected by its reason and object, and a node by its name', () => {
  const recorded = recordedEvent(involvedNode('host'), { reason: 'Starting', message: 'Starting kubelet.' });
  const event = coreEvent(recorded, { host: 'host', at: NOW, firstAt: NOW, count: 1, name: 'host.1' });
  const read = (field: string) => eventFields.get(field)?.(event);
  expect(['reason', 'type', 'involvedObject.kind', 'involvedObject.name', 'source'].map(read)).toEqual([
    'Starting',
    'Normal',
    'Node',
    'host',
    'kubelet',
  ]);
  expect([...nodeFields.keys()]).toEqual(['metadata.name', 'spec.unschedulable']);
});
