import type { Invariant } from './invariant.ts';

const ENDS: ReadonlySet<string> = new Set([
  ...['stopContainer', 'removeContainer', 'stopPodSandbox', 'removePodSandbox', 'updateContainerResources'],
  ...['unlink', 'rm', 'rmdir', 'rename', 'writeFile', 'removeTree', 'unmount', 'kill', 'remove'],
]);

export const notOurs: Invariant = {
  number: 5,
  says: "Nothing that is not this agent's is stopped, unmounted, changed or removed.",
  follow: ({ host }, violated) => ({
    onCall: ({ room, name, about, writes }) => {
      if (!writes || !ENDS.has(name)) return;
      if (host.isForeign(about)) violated(`${room} ${name} of ${about}, which is somebody else's`);
    },
  }),
};
