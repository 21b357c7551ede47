/** Faults put into the node on purpose: `npm run soak -- --faulty` shows that a simulation finds each of them. */

import type { SeededFault } from './seededFault.ts';
import { faultsOfMachines } from './simulatedMachines.ts';
import { faultsOfObjects } from './simulatedObjects.ts';

/** Faults in what is done, read and told. */
const others: readonly SeededFault[] = [
  {
    name: 'unmount',
    breaks: 'volumes in memory are not unmounted',
    file: 'volume/plugins/memory.ts',
    find: '    await mounter.unmount(hostPath, signal);',
    put: '    break;',
    story: 7,
  },
  {
    name: 'early-removal',
    breaks: 'containers are removed that still run',
    file: 'actors/services/containers/containers.ts',
    find: 'await cri.stopContainer({ containerId: id, timeout: BigInt(stopTimeoutSeconds) }, options).catch(ignoreNotFound);',
    put: 'if (options) await cri.removeContainer({ containerId: id }, { signal }).catch(ignoreNotFound);',
  },
  {
    name: 'restart-count',
    breaks: 'a new agent counts restarts from the beginning',
    file: 'kubernetes/status/containerStatuses.ts',
    find: '    restartCount: containerView.restartCount,',
    put: '    restartCount: containerView.lastRun === undefined ? 0 : Math.min(1, containerView.restartCount),',
  },
  {
    name: 'cgroup',
    breaks: 'cgroups are not removed',
    file: 'host/cgroup/remove.ts',
    find: '    await cgroupfs.rmdir(directory);\n',
    put: '',
  },
  {
    name: 'fact',
    breaks: 'what was admitted is not deleted with its pod',
    file: 'actors/store/factWriter.ts',
    find: "for (const kind of ['allocations', 'containerEnds', 'statuses', 'probes'] as const)",
    put: "for (const kind of ['containerEnds', 'statuses', 'probes'] as const)",
  },
  {
    name: 'sync',
    breaks: 'a durable fact is put in its place before it is durable',
    file: 'actors/store/storeFiles.ts',
    find: '    await fileHandle.writeFile(text);\n    await fileHandle.sync();',
    put: '    await fileHandle.writeFile(text);',
    story: 28,
  },
  {
    name: 'end-unsaved',
    breaks: 'the end of a pod is told before it is durable',
    file: 'actors/store/factWriter.ts',
    find: 'return pendingWrites.length > 0 ? withMaxDelay(clock, Promise.all(pendingWrites)) : undefined;',
    put: 'return pendingWrites.length > 0 ? Promise.resolve() : withMaxDelay(clock, Promise.all(pendingWrites));',
  },
  {
    name: 'explanation',
    breaks: 'an explanation says that each pod runs',
    file: 'show/explain.ts',
    find: 'const { status, ready } = podRow(pod, now);',
    put: "const { status, ready } = { ...podRow(pod, now), status: 'Running' };",
  },
  {
    name: 'no-mounts-given',
    breaks: 'containers are made without what they mount',
    file: 'cri/config/containerConfig.ts',
    find: 'withIdMappings(mount, userRange)),',
    put: 'withIdMappings(mount, userRange)).slice(Infinity),',
  },
  {
    name: 'mounts-of-nowhere',
    breaks: 'containers mount something else than their volumes',
    file: 'cri/config/containerConfig.ts',
    find: 'withIdMappings(mount, userRange)),',
    put: "withIdMappings({ ...mount, hostPath: '/nowhere' }, userRange)),",
  },
  {
    name: 'tmpfs-not-mounted',
    breaks: 'volumes in memory are on the disk',
    file: 'volume/plugins/memory.ts',
    find: '  await mounter.mount({ source: medium.type, target: hostPath, ...medium, signal });\n',
    put: '',
  },
  {
    name: 'no-grace',
    breaks: 'containers are killed without any grace',
    file: 'actors/services/containers/containers.ts',
    find: 'timeout: BigInt(stopTimeoutSeconds) }',
    put: 'timeout: BigInt(stopTimeoutSeconds) * 0n }',
  },
  {
    name: 'resize-not-made',
    breaks: 'the runtime is not told of another size',
    file: 'actors/services/containers/resizeServices.ts',
    find: '      await cri.updateContainerResources(request, options).catch(rejectResize);\n',
    put: '      if (request === undefined) rejectResize(options);\n',
  },
  {
    name: 'one-pod-has-room',
    breaks: 'a node takes one pod and refuses all others',
    file: 'kubernetes/resources/requests.ts',
    find: "resource === 'pods' ? pods :",
    put: "resource === 'pods' ? Math.min(1, pods) :",
  },
  {
    name: 'manifests-without-rest',
    breaks: 'manifests are read again at once, for ever',
    file: 'actors/sources/fileSource.ts',
    find: 'return this.#alarm.waitUntil(Math.min(this.#nextListAt, ...this.#readableAt.values()));',
    put: 'return Promise.resolve();',
  },
  {
    name: 'ticker-without-rest',
    breaks: 'the ticker ticks again at once, for ever',
    file: 'actors/node/nodeFeeds.ts',
    find: 'await alarm.waitUntil(clock.now() + TICK_MS);',
    put: 'await alarm.waitUntil(clock.now() + Math.min(0, TICK_MS));',
  },
  {
    name: 'others-as-own',
    breaks: 'what another agent has made of a pod counts as made here',
    file: 'kubernetes/lifecycle/observed.ts',
    find: 'const foreignSandboxes = own.sandboxes.filter(isForeign);',
    put: 'const foreignSandboxes = own.sandboxes.filter(isForeign).slice(own.sandboxes.length);',
  },
  {
    name: 'last-good-lost',
    breaks: 'a manifest that is invalid when an agent starts takes the place of the last good one',
    file: 'actors/sources/manifest/manifestSet.ts',
    find: 'const previousText = previousEntry?.parsedText ?? EMPTY_PARSED_TEXT;',
    put: 'const previousText = (previousEntry?.readDigest === undefined ? undefined : previousEntry.parsedText) ?? EMPTY_PARSED_TEXT;',
  },
  {
    name: 'system-oom-unreported',
    breaks: 'a system OOM kill is no event',
    file: 'machines/node/chart.ts',
    find: 'for (const each of recordedEvents(involvedNode(context.nodeName), messages)) enqueue.emit(each);\n        const processKills',
    put: 'for (const each of recordedEvents(involvedNode(context.nodeName), messages).slice(1)) enqueue.emit(each);\n        const processKills',
    story: 28,
  },
  {
    name: 'oom-kill-of-another',
    breaks: 'a container has the message of the last OOM kill on the node',
    file: 'actors/feeds/oomWatcher.ts',
    find: 'return this.#killsByContainer.get(containerId);',
    put: 'return this.#killsByContainer.get(containerId.slice(64)) ?? [...this.#killsByContainer.values()].at(-1);',
    story: 42,
  },
];

export const seededFaults: readonly SeededFault[] = [...faultsOfMachines, ...faultsOfObjects, ...others];
