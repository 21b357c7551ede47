import { expect, test } from '@jest/globals';
import { coreEvent } from '../../../kubernetes/events/event.ts';
import { involvedNode, recordedEvent } from '../../../kubernetes/events/recordedEvent.ts';
import { describeNode } from '../../../show/describe/node.ts';
import { aPod } from '../../kubernetes/fixtures.ts';
import { aNode, STARTED } from '../../kubernetes/nodes.ts';

const minutes = (count: number): number => STARTED + count * 60_000;

test('a node is described in the layout of kubectl', () => {
  const pod = aPod();
  const resources = { requests: { cpu: '500m', memory: '512Mi' }, limits: { memory: '1Gi' } };
  const web = {
    ...pod,
    metadata: { ...pod.metadata, name: 'web', namespace: 'default', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { ...pod.spec, containers: [{ name: 'main', image: 'box', resources }] },
  };
  const note = { eventType: 'Warning' as const, reason: 'StoreFailed', message: 'no space left' };
  const at = { at: minutes(4), firstAt: minutes(4), count: 1, name: 'e', host: 'host' };
  const events = [coreEvent(recordedEvent(involvedNode('host'), note), at)];
  const text = describeNode(aNode(), [web], events, minutes(5));
  expect(text.replaceAll(/\w{3}, 01 Jan 2026 [\d:]+ [+-]\d{4}/g, 'THEN')).toBe(`Name:               host
Roles:              edge
Labels:             kubernetes.io/arch=amd64
                    kubernetes.io/os=linux
                    node-role.kubernetes.io/edge=
Annotations:        <none>
CreationTimestamp:  THEN
Taints:             dedicated=db:NoSchedule
Unschedulable:      false
Conditions:
  Type             Status  LastHeartbeatTime                LastTransitionTime               Reason                      Message
  ----             ------  -----------------                ------------------               ------                      -------
  MemoryPressure   False   THEN  THEN  KubeletHasSufficientMemory  kubelet has sufficient memory available
  DiskPressure     False   THEN  THEN  KubeletHasNoDiskPressure    kubelet has no disk pressure
  PIDPressure      False   THEN  THEN  KubeletHasSufficientPID     kubelet has sufficient PID available
  Ready            True    THEN  THEN  KubeletReady                kubelet is posting ready status
Addresses:
  InternalIP:  192.0.2.1
  InternalIP:  2001:db8::1
  Hostname:    host
Capacity:
  cpu:                2
  ephemeral-storage:  100Gi
  memory:             4Gi
  pods:               110
Allocatable:
  cpu:                1500m
  ephemeral-storage:  90Gi
  memory:             2Gi
  pods:               110
System Info:
  Machine ID:                 machine
  System UUID:                system
  Boot ID:                    boot
  Kernel Version:             6.1.0
  OS Image:                   Debian GNU/Linux 12 (bookworm)
  Operating System:           linux
  Architecture:               amd64
  Container Runtime Version:  containerd://1.6.20
  Kubelet Version:            v1.36.0+statelet.0.1.0
Non-terminated Pods:          (1 in total)
  Namespace                   Name    CPU Requests  CPU Limits  Memory Requests  Memory Limits  Age
  ---------                   ----    ------------  ----------  ---------------  -------------  ---
  default                     web     500m (33%)    0 (0%)      512Mi (25%)      1Gi (50%)      5m
Allocated resources:
  (Total limits may be over 100 percent, i.e., overcommitted.)
  Resource           Requests     Limits
  --------           --------     ------
  cpu                500m (33%)   0 (0%)
  ephemeral-storage  0 (0%)       0 (0%)
  memory             512Mi (25%)  1Gi (50%)
Events:
  Type     Reason       Age   From     Message
  ----     ------       ----  ----     -------
  Warning  StoreFailed  60s   kubelet  no space left
`);
});
