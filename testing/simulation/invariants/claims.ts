/** Invariants for resource claims that DRA drivers have prepared. */

import type { SimulatedHost } from '../host/host.ts';
import { fullName } from '../host/host.ts';
import type { Invariant } from './invariant.ts';

/** Terminal pod phases. The claims of pods in these phases must be unprepared. */
const ENDED: readonly string[] = ['Succeeded', 'Failed'];

/**
 * Returns the devices of running containers, e.g. `gpu.example.com/device=gpu-1`, each with the container that uses it.
 */
function devicesInUse(host: SimulatedHost): [device: string, user: string][] {
  return host
    .running()
    .flatMap((each) =>
      (each.config.CDIDevices ?? []).map(({ name }): [string, string] => [
        name,
        `${fullName(each)} ${each.containerName}`,
      ]),
    );
}

/** Returns the devices of the claims that drivers have prepared. */
const preparedDevices = ({ drivers }: SimulatedHost): Set<string> =>
  new Set(drivers.names.flatMap((driver) => drivers.preparedNames(driver).map((name) => `${driver}/device=${name}`)));

const claimsInUse: Invariant = {
  description: 'A claim stays prepared while a container with its device runs, also when the agent restarts.',
  follow: ({ host }, violated) => ({
    afterStep: () => {
      if (host.drivers.names.length === 0) return;
      const prepared = preparedDevices(host);
      for (const [device, user] of devicesInUse(host))
        if (!prepared.has(device)) violated(`${user} runs with ${device}, whose claim is not prepared`);
    },
  }),
};

const claimsReleased: Invariant = {
  description: 'Once the node is at rest, only claims are prepared whose pods are on the node.',
  follow: ({ host, cluster }, violated) => ({
    atRest: () => {
      const pods = cluster?.pods() ?? [];
      const claimedNames = new Set(pods.flatMap(({ phase, claims }) => (ENDED.includes(phase) ? [] : claims)));
      for (const driver of host.drivers.names)
        for (const name of host.drivers.preparedNames(driver))
          if (!claimedNames.has(name)) violated(`the claim ${name} is still prepared by ${driver}, but no pod uses it`);
    },
  }),
};

export const preparedClaims: readonly Invariant[] = [claimsInUse, claimsReleased];
