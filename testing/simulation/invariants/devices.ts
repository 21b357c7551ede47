import type { SimulatedContainer } from '../../../cri/simulated/objects/views.ts';
import { parseDeviceCheckpoint } from '../../../kubernetes/devices/deviceCheckpoint.ts';
import { deviceIdsOf } from '../../../kubernetes/devices/devices.ts';
import { fullName } from '../host/host.ts';
import { DEVICE_VARIABLE } from '../host/simulatedDevices.ts';
import { DEVICE_CHECKPOINT } from '../run/nodeConfig.ts';
import type { Invariant } from './invariant.ts';

/** Returns the devices in the environment variable that the device plugin sets. */
function devicesOf({ config }: SimulatedContainer): readonly string[] {
  const variable = config.envs.find(({ key }) => key === DEVICE_VARIABLE);
  return variable === undefined ? [] : Buffer.from(variable.value).toString().split(',').sort();
}

const nameOf = (each: SimulatedContainer): string => `${fullName(each)} ${each.containerName}`;

export const exclusiveDevices: Invariant = {
  description: 'Two running containers of different pods never share a device.',
  follow: ({ host }, violated) => {
    const check = () => {
      const holders = new Map<string, SimulatedContainer>();
      for (const each of host.running()) {
        for (const id of devicesOf(each)) {
          const other = holders.get(id);
          if (other !== undefined && other.podUid !== each.podUid)
            violated(`${nameOf(each)} and ${nameOf(other)} share the device ${id}`);
          holders.set(id, each);
        }
      }
    };
    return {
      onEffect: ({ kind }) => {
        if (kind === 'started') check();
      },
      whole: check,
    };
  },
};

export const allocatedDevices: Invariant = {
  description:
    'A running container has exactly the devices that are allocated to it, also after the agent has restarted.',
  follow: ({ host }, violated) => ({
    atRest: () => {
      const { files } = host;
      if (files.lstatSync(DEVICE_CHECKPOINT) === undefined) return;
      const { entries } = parseDeviceCheckpoint(files.readFileSync(DEVICE_CHECKPOINT));
      for (const each of host.running()) {
        const allocated = entries
          .filter(({ podUid, container }) => podUid === each.podUid && container === each.containerName)
          .flatMap(deviceIdsOf)
          .sort();
        const actual = devicesOf(each);
        if (actual.join() !== allocated.join())
          violated(`${nameOf(each)} has the devices [${actual}], but [${allocated}] are allocated to it`);
      }
    },
  }),
};
