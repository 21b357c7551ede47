/** Faults put into the node on purpose: `npm run soak -- --faulty` shows that a simulation finds each of them. */

export interface SeededFault {
  /** By which it is picked. */
  readonly name: string;
  /** What is wrong then. */
  readonly breaks: string;
  /** The file of the product, and the text that stands in it exactly once. */
  readonly file: string;
  readonly find: string;
  readonly put: string;
}

export const seededFaults: readonly SeededFault[] = [
  {
    name: 'slot',
    breaks: 'a slot of a limiter that is given back stays held',
    file: 'machines/limiter/chart.ts',
    find: "event.type === 'slot.release' ? key === event.key : key.startsWith(",
    put: "event.type === 'slot.forget' && key.startsWith(",
  },
  {
    name: 'guard',
    breaks: 'containers that have failed count as succeeded, and the other way round',
    file: 'machines/container/states/ended.ts',
    find: 'run !== undefined && !hasFailed(role, run)',
    put: 'run !== undefined && hasFailed(role, run)',
  },
  {
    name: 'unmount',
    breaks: 'volumes in memory are not unmounted',
    file: 'volume/memory.ts',
    find: "?.type ?? '')) await mounter.unmount(hostPath, signal);",
    put: "?.type ?? '')) break;",
  },
  {
    name: 'early-removal',
    breaks: 'containers are removed that still run',
    file: 'actors/services/containers.ts',
    find: 'await cri.stopContainer({ containerId: id, timeout: BigInt(seconds) }, options).catch(unlessGone);',
    put: 'if (options) await cri.removeContainer({ containerId: id }, { signal }).catch(unlessGone);',
  },
  {
    name: 'init',
    breaks: 'an init container is not waited for once it runs',
    file: 'machines/pod/startOrder.ts',
    find: "(lifecycle === 'running' && roleOf(context, last) === 'sidecar')",
    put: "(lifecycle === 'running' && roleOf(context, last) !== undefined)",
  },
  {
    name: 'turn',
    breaks: 'containers of a pod are started without waiting for their turn',
    file: 'machines/pod/launchOrder.ts',
    find: "lookUp(context.containers, first) === 'readyToCreate' && launching(context) === undefined;",
    put: "lookUp(context.containers, first) === 'readyToCreate';",
  },
  {
    name: 'event',
    breaks: 'the creation of a container is told twice',
    file: 'machines/container/states/making.ts',
    find: 'actions: [assign(({ event }) => ({ id: event.output.id })), recordCreationEvent],',
    put: 'actions: [assign(({ event }) => ({ id: event.output.id })), recordCreationEvent, recordCreationEvent],',
  },
  {
    name: 'restart-count',
    breaks: 'a new agent counts restarts from the beginning',
    file: 'pod/status/containerStatuses.ts',
    find: '    restartCount: seen.restartCount,',
    put: '    restartCount: seen.last === undefined ? 0 : Math.min(1, seen.restartCount),',
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
    find: "for (const kind of ['allocations', 'statuses', 'probes'] as const)",
    put: "for (const kind of ['statuses', 'probes'] as const)",
  },
  {
    name: 'sandbox',
    breaks: 'the last sandbox of a pod is not removed',
    file: 'machines/pod/states/terminating.ts',
    find: "src: 'removeSandboxes',\n        input: ({ context }) => ({ ids: allSandboxes(context) }),",
    put: "src: 'removeSandboxes',\n        input: ({ context }) => ({ ids: allSandboxes(context).slice(1) }),",
  },
  {
    name: 'grace',
    breaks: 'a later command may give a pod more grace',
    file: 'machines/pod/termination.ts',
    find: 'deadlineOf(next) < deadlineOf(present) ?',
    put: 'deadlineOf(next) > deadlineOf(present) ?',
  },
  {
    name: 'foreign-sandbox',
    breaks: 'pods that another agent has made count as orphans',
    file: 'machines/node/own.ts',
    find: 'sandboxes.some((sandbox) => sandbox.owner === owner) ||',
    put: '[...sandboxes, ...others].length > 0 ||',
  },
  {
    name: 'wait',
    breaks: 'a crash-loop back-off lasts longer than it says',
    file: 'machines/container/states/ended.ts',
    find: 'retryAt > 0 ? { until: retryAt } : { after: crashDelayMs }',
    put: '({ after: retryAt > 0 ? crashDelayMs * 3 : crashDelayMs })',
  },
  {
    name: 'actor',
    breaks: 'the actor of a pod that is gone is not stopped',
    file: 'machines/node/setup.ts',
    find: '      enqueue.stopChild(podId(uid));\n',
    put: '',
  },
  {
    name: 'volumes',
    breaks: 'a pod does not wait for its volumes',
    file: 'machines/pod/context.ts',
    find: "lifecycle === 'mounted' || lifecycle === 'delayed'",
    put: 'lifecycle !== undefined',
  },
  {
    name: 'full-name',
    breaks: 'a pod does not wait for the earlier one of its name',
    file: 'machines/admission/context.ts',
    find: 'named(entries, request.fullName).filter(({ uid }) => uid !== request.uid)',
    put: 'named(entries, request.fullName).filter(({ uid }) => uid === undefined)',
  },
  {
    name: 'sync',
    breaks: 'a durable fact is put in its place before it is durable',
    file: 'actors/store/storeFiles.ts',
    find: '    await handle.writeFile(text);\n    await handle.sync();',
    put: '    await handle.writeFile(text);',
  },
  {
    name: 'adoption',
    breaks: 'a new agent makes containers anew that run',
    file: 'machines/container/context.ts',
    find: '    id: newest?.id,\n    madeFrom: newest?.hash || undefined,',
    put: "    id: newest?.id,\n    madeFrom: newest && 'another',",
  },
  {
    name: 'stop-order',
    breaks: 'a pod does not wait for its containers to end',
    file: 'machines/pod/states/terminating.ts',
    find: 'hasNoProcess: ({ context }: PodArgs) => hasNoProcess(context),',
    put: 'hasNoProcess: ({ context }: PodArgs) => hasNoProcess(context) || context.sandbox !== undefined,',
  },
  {
    name: 'no-mounts-given',
    breaks: 'containers are made without what they mount',
    file: 'cri/containerConfig.ts',
    find: 'withUsers(mount, users)),',
    put: 'withUsers(mount, users)).slice(Infinity),',
  },
  {
    name: 'mounts-of-nowhere',
    breaks: 'containers mount something else than their volumes',
    file: 'cri/containerConfig.ts',
    find: 'withUsers(mount, users)),',
    put: "withUsers({ ...mount, hostPath: '/nowhere' }, users)),",
  },
  {
    name: 'tmpfs-not-mounted',
    breaks: 'volumes in memory are on the disk',
    file: 'volume/memory.ts',
    find: '  await mounter.mount({ source: medium.type, target: hostPath, ...medium, signal });\n',
    put: '',
  },
  {
    name: 'no-grace',
    breaks: 'containers are killed without any grace',
    file: 'actors/services/containers.ts',
    find: 'timeout: BigInt(seconds) }',
    put: 'timeout: BigInt(seconds) * 0n }',
  },
  {
    name: 'image-never-changed',
    breaks: 'a container goes on with the image that its pod had before',
    file: 'machines/container/states/running.ts',
    find: 'context.madeFrom !== undefined && context.madeFrom !== identityOf(context),',
    put: 'context.madeFrom !== undefined && identityOf(context) === undefined,',
  },
  {
    name: 'never-resized',
    breaks: 'a container keeps its size',
    file: 'machines/container/states/running.ts',
    find: '  isMissized: ({ context }: ContainerArgs) => isMissized(context),',
    put: '  isMissized: ({ context }: ContainerArgs) => isMissized(context) && context.id === undefined,',
  },
  {
    name: 'resize-not-made',
    breaks: 'the runtime is not told of another size',
    file: 'actors/services/resizing.ts',
    find: '      await cri.updateContainerResources(request, options).catch(refused);\n',
    put: '      if (request === undefined) refused(options);\n',
  },
  {
    name: 'one-pod-has-room',
    breaks: 'a node takes one pod and refuses all others',
    file: 'pod/resources/requests.ts',
    find: "resource === 'pods' ? pods :",
    put: "resource === 'pods' ? Math.min(1, pods) :",
  },
  {
    name: 'crashloop-ten-hours',
    breaks: 'a container that has crashed waits for ten hours',
    file: 'machines/container/states/ended.ts',
    find: 'return { crashDelayMs, retryAt: finishedAt === undefined ? 0 : finishedAt + crashDelayMs };',
    put: 'const slow = crashDelayMs > 0 ? 36_000_000 : crashDelayMs;\n  return { crashDelayMs: slow, retryAt: finishedAt === undefined ? 0 : finishedAt + slow };',
  },
  {
    name: 'helper-never-again',
    breaks: 'only the main container of a pod runs again when it has crashed',
    file: 'machines/container/states/ended.ts',
    find: 'return { crashDelayMs, retryAt: finishedAt === undefined ? 0 : finishedAt + crashDelayMs };',
    put: "const slow = (context.name === 'main' ? 0 : crashDelayMs) > 0 ? 36_000_000 : crashDelayMs;\n  return { crashDelayMs: slow, retryAt: finishedAt === undefined ? 0 : finishedAt + slow };",
  },
  {
    name: 'sidecar-never-again',
    breaks: 'a sidecar that has crashed does not run again',
    file: 'machines/container/states/ended.ts',
    find: 'return { crashDelayMs, retryAt: finishedAt === undefined ? 0 : finishedAt + crashDelayMs };',
    put: "const slow = (context.role === 'sidecar' ? crashDelayMs : 0) > 0 ? 36_000_000 : crashDelayMs;\n  return { crashDelayMs: slow, retryAt: finishedAt === undefined ? 0 : finishedAt + slow };",
  },
];
