import { expect, test } from '@jest/globals';
import { decodeEdits, encodeEdits } from '../../../actors/devices/pluginMessages.ts';
import {
  type DeviceCheckpoint,
  formatDeviceCheckpoint,
  parseDeviceCheckpoint,
} from '../../../kubernetes/devices/deviceCheckpoint.ts';

/** Files written by the kubelet, for a device on no NUMA node and for two devices on node 1. */
const withoutNode =
  '{"Data":{"PodDeviceEntries":[{"PodUID":"bf52b2cd-b611-4e79-86b1-280b283185c3","ContainerName":"check","ResourceName":"nvidia.com/gpu","DeviceIDs":{"-1":["tegra"]},"AllocResp":"Ch8KFk5WSURJQV9WSVNJQkxFX0RFVklDRVMSBXRlZ3Jh"}],"RegisteredDevices":{"nvidia.com/gpu":["tegra"]}},"Checksum":3660592824}';
const onNode1 =
  '{"Data":{"PodDeviceEntries":[{"PodUID":"9a15d2b5-c152-46b9-96e0-d57032629e1f","ContainerName":"app","ResourceName":"nvidia.com/gpu","DeviceIDs":{"1":["GPU-9b341c59-f96b-ba85-c137-78c3652fea65","GPU-c1e9f249-b37b-81c2-a8d9-ba5ca0294841"]},"AllocResp":"CmsKFk5WSURJQV9WSVNJQkxFX0RFVklDRVMSUUdQVS1jMWU5ZjI0OS1iMzdiLTgxYzItYThkOS1iYTVjYTAyOTQ4NDEsR1BVLTliMzQxYzU5LWY5NmItYmE4NS1jMTM3LTc4YzM2NTJmZWE2NRokCg4vZGV2L252aWRpYWN0bBIOL2Rldi9udmlkaWFjdGwaAnJ3GiYKDy9kZXYvbnZpZGlhLXV2bRIPL2Rldi9udmlkaWEtdXZtGgJydxoyChUvZGV2L252aWRpYS11dm0tdG9vbHMSFS9kZXYvbnZpZGlhLXV2bS10b29scxoCcncaLgoTL2Rldi9udmlkaWEtbW9kZXNldBITL2Rldi9udmlkaWEtbW9kZXNldBoCcncaIAoML2Rldi9udmlkaWExEgwvZGV2L252aWRpYTEaAnJ3GiAKDC9kZXYvbnZpZGlhMhIML2Rldi9udmlkaWEyGgJydw=="}],"RegisteredDevices":{"nvidia.com/gpu":["GPU-77a702db-e37f-3a74-d46d-c5713f66058c","GPU-9b341c59-f96b-ba85-c137-78c3652fea65","GPU-c1e9f249-b37b-81c2-a8d9-ba5ca0294841"]}},"Checksum":2530956716}';

test.each([withoutNode, onNode1])('reads what a kubelet has written, and writes it again to the byte', (text) => {
  const checkpoint = parseDeviceCheckpoint(text);
  expect(formatDeviceCheckpoint(checkpoint)).toBe(text);
});

test('the responses of plugins in the file of a kubelet can be used, and are stored as they were', () => {
  const [first] = parseDeviceCheckpoint(withoutNode).entries;
  const edits = decodeEdits(first?.response ?? Buffer.alloc(0));
  expect(edits).toEqual({
    envs: [['NVIDIA_VISIBLE_DEVICES', 'tegra']],
    mounts: [],
    devices: [],
    annotations: [],
    cdiDevices: [],
  });
  expect(encodeEdits(edits).equals(Buffer.from(first?.response ?? []))).toBe(true);
  const [second] = parseDeviceCheckpoint(onNode1).entries;
  const secondEdits = decodeEdits(second?.response ?? Buffer.alloc(0));
  expect(secondEdits.devices).toHaveLength(6);
  expect(secondEdits.devices[0]).toEqual({
    containerPath: '/dev/nvidiactl',
    hostPath: '/dev/nvidiactl',
    permissions: 'rw',
  });
  expect(encodeEdits(secondEdits).equals(Buffer.from(second?.response ?? []))).toBe(true);
});

test('a damaged file is refused', () => {
  expect(() => parseDeviceCheckpoint(withoutNode.replace('tegra', 'tegrb'))).toThrow('checkpoint is corrupted');
});

test.each<[string, DeviceCheckpoint]>([
  ['nothing', { entries: [], registered: [] }],
  ['a resource without healthy devices', { entries: [], registered: [{ resource: 'example.com/a', healthyIds: [] }] }],
  [
    'a device of several nodes, with a name that is not ASCII',
    {
      entries: [
        {
          podUid: 'uid',
          container: 'main',
          resource: 'example.com/a',
          devicesByNode: [
            { numaNode: 0, ids: ['gerät'] },
            { numaNode: 10, ids: ['gerät'] },
          ],
          response: Buffer.alloc(0),
        },
      ],
      registered: [{ resource: 'example.com/a', healthyIds: ['gerät'] }],
    },
  ],
])('reads again what it has written: %s', (_, checkpoint) => {
  expect(parseDeviceCheckpoint(formatDeviceCheckpoint(checkpoint))).toEqual(checkpoint);
});
