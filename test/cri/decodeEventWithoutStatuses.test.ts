import { describe, expect, test } from '@jest/globals';
import { decodeEventWithoutStatuses } from '../../cri/containerEvents.ts';
import * as wire from '../../cri/generated/runtime.ts';

describe('an event of a pod with many containers', () => {
  const containersStatuses = Array.from({ length: 1_000 }, (_, index) => ({ id: `c${index}` }));
  const event = {
    containerId: 'c7',
    containerEventType: wire.ContainerEventType.CONTAINER_STOPPED_EVENT,
    createdAt: 1_700_000_000_000_000_000n,
    podSandboxStatus: { id: 'sandbox' },
    containersStatuses,
  };
  const encode = (fields: object) =>
    wire.ContainerEventResponse.encode(wire.ContainerEventResponse.fromPartial(fields)).finish();

  test('is read without the statuses of the pod, whose size grows with the pod', () => {
    expect(decodeEventWithoutStatuses(encode(event))).toEqual(
      wire.ContainerEventResponse.fromPartial({
        ...event,
        podSandboxStatus: undefined,
        containersStatuses: [],
      }),
    );
  });

  test('is read even if its statuses are damaged', () => {
    const damagedStatus = Uint8Array.of(0x2a, 3, 0xff, 0xff, 0xff);
    const damaged = Buffer.concat([encode({ containerId: 'c7' }), damagedStatus]);
    expect(() => wire.ContainerEventResponse.decode(damaged)).toThrow();
    expect(decodeEventWithoutStatuses(damaged).containerId).toBe('c7');
  });

  test('is rejected if it is truncated', () => {
    expect(() => decodeEventWithoutStatuses(encode(event).subarray(0, -1))).toThrow('premature EOF');
  });
});
