import { describe, expect, test } from '@jest/globals';
import { pressureRefusal } from '../../../kubernetes/admission/pressure.ts';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import type { PressureCondition } from '../../../kubernetes/eviction/signals.ts';
import type { QosClass } from '../../../kubernetes/resources/qos.ts';
import { aPod, requestsWith } from '../fixtures.ts';

type Tolerations = NonNullable<PodSpec['tolerations']>;

const MEMORY = 'node.kubernetes.io/memory-pressure';
const QOS_CLASSES: readonly QosClass[] = ['Guaranteed', 'Burstable', 'BestEffort'];

const refusal = (pressure: readonly PressureCondition[], qos: QosClass, tolerations: Tolerations = []) =>
  pressureRefusal(aPod({ tolerations }).spec, requestsWith({ qos }), pressure);

describe('C28: a node admits', () => {
  // The cases of `TestAdmitUnderNodeConditions` in `pkg/kubelet/eviction/eviction_manager_test.go`.
  test.each<[string, readonly PressureCondition[], readonly QosClass[]]>([
    ['all pods without pressure', [], QOS_CLASSES],
    ['all but BestEffort pods under memory pressure', ['MemoryPressure'], ['Guaranteed', 'Burstable']],
    ['no pods under memory and disk pressure', ['MemoryPressure', 'DiskPressure'], []],
    ['no pods under disk pressure', ['DiskPressure'], []],
    ['no pods under PID pressure', ['PIDPressure'], []],
  ])('%s', (_, pressure, admitted) => {
    expect(QOS_CLASSES.filter((qos) => refusal(pressure, qos) === undefined)).toEqual(admitted);
  });

  test('critical pods under any pressure', () => {
    const requests = requestsWith({ qos: 'BestEffort', critical: true });
    expect(pressureRefusal(aPod().spec, requests, ['MemoryPressure', 'DiskPressure'])).toBeUndefined();
  });

  test.each<[string, Tolerations, boolean]>([
    ['that tolerates the taint', [{ key: MEMORY, operator: 'Exists', effect: 'NoSchedule' }], true],
    ['that tolerates every taint', [{ operator: 'Exists' }], true],
    ['that tolerates another effect', [{ key: MEMORY, operator: 'Exists', effect: 'NoExecute' }], false],
    ['that tolerates disk pressure', [{ key: 'node.kubernetes.io/disk-pressure', operator: 'Exists' }], false],
  ])('a BestEffort pod %s under memory pressure: %j', (_, tolerations, isAdmitted) => {
    expect(refusal(['MemoryPressure'], 'BestEffort', tolerations) === undefined).toBe(isAdmitted);
    expect(refusal(['MemoryPressure', 'DiskPressure'], 'BestEffort', tolerations)).toBeDefined();
  });
});

test('C28: a pod that is rejected under pressure counts as evicted', () => {
  expect(refusal(['MemoryPressure', 'PIDPressure'], 'Guaranteed')).toEqual({
    reason: 'Evicted',
    message: 'The node had condition: [MemoryPressure PIDPressure]. ',
  });
});
