/** What a pod does with its children: volumes and containers are spawned, commanded and forgotten. The chart is in chart.ts. */
import { enqueueActions } from 'xstate';
import { containersOf } from '../../pod/api/containers.ts';
import type { Pod } from '../../pod/api/schema/pod.ts';
import { involvedPod, recordedEvent } from '../../pod/events/recordedEvent.ts';
import type { ObservedSandbox } from '../../pod/lifecycle/observed.ts';
import { showingChange } from '../../pod/lifecycle/update.ts';
import {
  isPendingResize,
  resizeMessage,
  resizeRefusal,
  resourcesOf,
  sameResources,
  withResources,
} from '../../pod/resources/resize.ts';
import type { ContainerEvent } from '../shared/events.ts';
import { departed, mayRun, mountedVolumes, staysAfterwards, vanished, withContainer } from './context.ts';
import { nextLaunch } from './launchOrder.ts';
import { podResizeSetup } from './resizeSetup.ts';
import { persistedSize } from './resizing.ts';
import {
  afterInits,
  earlierTurns,
  firstTurn,
  initNames,
  lastingNames,
  newEphemeral,
  nextInit,
  onTheirWay,
} from './startOrder.ts';
import { nextToStop, stopCommand } from './stopOrder.ts';

const hasSameContainers = (one: Pod, other: Pod): boolean =>
  [one, other]
    .map(({ spec }) => [...containersOf(spec)].map(({ container }) => container.name).join())
    .every((names, _, [first]) => names === first);

const containerId = (name: string) => `container/${name}` as const;
const volumeId = (name: string) => `volume/${name}` as const;

export const podSetup = podResizeSetup.extend({
  actions: {
    /** A volume whose definition was mended is tried again under the new one; one that shows its pod shows it as it is now. */
    updateVolumes: enqueueActions(({ context, enqueue }) => {
      for (const name of Object.keys(context.volumes)) {
        enqueue.sendTo(volumeId(name), { type: 'volume.update', pod: context.allocated });
      }
    }),
    /** A volume that came with an update: the containers that have an actor already may need it. */
    shareVolume: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== 'volume.changed' || event.lifecycle !== 'mounted') return;
      const { allocated: pod, containers } = context;
      const update: ContainerEvent = { type: 'container.update', pod, volumes: mountedVolumes(context) };
      for (const { container } of containersOf(pod.spec)) {
        if (Object.hasOwn(containers, container.name)) enqueue.sendTo(containerId(container.name), update);
      }
    }),
    /** Its metadata is about to be another: the volumes and containers that show of it what has changed are told. */
    showMetadata: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== 'pod.metadataChanged') return;
      const pod = { ...context.allocated, metadata: event.metadata };
      const { volumes, containers } = showingChange(context.allocated, pod);
      for (const name of volumes.filter((each) => Object.hasOwn(context.volumes, each))) {
        enqueue.sendTo(volumeId(name), { type: 'volume.update', pod });
      }
      for (const name of containers.filter((each) => Object.hasOwn(context.containers, each))) {
        enqueue.sendTo(containerId(name), { type: 'container.update', pod, volumes: mountedVolumes(context) });
      }
    }),
    /** Each volume of the spec that has no actor yet gets one: to be mounted or, of a pod that has ended, to be unmounted. */
    spawnVolumes: enqueueActions(({ context, enqueue }) => {
      const { allocated: pod, ticket, termination } = context;
      // Whoever removes a pod finds on disk what an earlier agent has left of it.
      if (termination !== undefined && !staysAfterwards(termination)) return;
      const common = { pod, ticket, isLeft: termination !== undefined };
      for (const { name } of context.allocated.spec.volumes ?? []) {
        if (Object.hasOwn(context.volumes, name)) continue;
        enqueue.assign(({ context: now }) => ({
          volumes: { ...now.volumes, [name]: { lifecycle: 'pending' as const } },
        }));
        enqueue.spawnChild('volume', { id: volumeId(name), input: { ...common, name } });
      }
    }),
    /** Each container of the spec that has no actor yet gets one. */
    spawnContainers: enqueueActions(({ context, enqueue }) => {
      const { allocated: pod, observed, ticket, crashLoop, sandbox } = context;
      const common = {
        pod,
        ticket,
        crashLoop,
        sandbox,
        volumes: mountedVolumes(context),
      };
      for (const { container, role } of containersOf(pod.spec)) {
        const { name } = container;
        if (Object.hasOwn(context.containers, name)) continue;
        const seen = observed.containers.filter((shown) => shown.name === name);
        const size = seen.length > 0 ? persistedSize(context, name) : undefined;
        const lifecycle = seen[0] && mayRun(seen[0]) ? ('live' as const) : ('pending' as const);
        enqueue.assign(({ context: now }) => ({
          containers: { ...now.containers, [name]: lifecycle },
          ...(size ? { sizes: { ...now.sizes, [name]: size } } : {}),
        }));
        const probed = context.probed?.find(({ id }) => id === seen[0]?.id);
        const input = { ...common, name, role, observed: seen, probed, size };
        enqueue.spawnChild('container', { id: containerId(name), input });
      }
    }),
    announceSandbox: enqueueActions(({ context, enqueue }) => {
      if (context.sandbox === undefined) return;
      const event: ContainerEvent = { type: 'sandbox.ready', sandbox: context.sandbox };
      for (const name of Object.keys(context.containers)) enqueue.sendTo(containerId(name), event);
    }),
    /** What runs in the sandbox has to end, in one that still lives with hooks and grace. By the runtime's own word on it. */
    revokeSandbox: enqueueActions(({ context, enqueue }, sandbox: ObservedSandbox | null) => {
      const still = sandbox?.state === 'ready' ? { still: sandbox } : {};
      const event: ContainerEvent = { type: 'sandbox.lost', ...still };
      for (const name of Object.keys(context.containers)) enqueue.sendTo(containerId(name), event);
    }),
    /** Who needs nothing but a sandbox may look for its image while that is being made. */
    startFirst: enqueueActions(({ context, enqueue }) => {
      if (context.turnsGiven.length > 0) return;
      const names = firstTurn(context);
      for (const name of names) enqueue.sendTo(containerId(name), { type: 'container.start' });
      enqueue.assign({ turnsGiven: initNames(context).slice(0, 1), containers: onTheirWay(context, names) });
    }),
    /** After a restart of the agent. Of an init container that had been done and collected nothing more is wanted. */
    recallTurns: enqueueActions(({ context, enqueue }) => {
      const names = earlierTurns(context);
      const isThere = (name: string) => context.observed.containers.some((shown) => shown.name === name);
      const again = names.filter((name) => isThere(name) || afterInits(context).includes(name));
      for (const name of again) enqueue.sendTo(containerId(name), { type: 'container.start' });
      enqueue.assign({ turnsGiven: names, containers: onTheirWay(context, again) });
    }),
    startNext: enqueueActions(({ context, enqueue }) => {
      const name = nextInit(context);
      if (name === undefined) return;
      enqueue.sendTo(containerId(name), { type: 'container.start' });
      enqueue.assign({ turnsGiven: [...context.turnsGiven, name], containers: onTheirWay(context, [name]) });
    }),
    /** They need nothing but the sandbox, and nobody takes notice of how they end. */
    startEphemeral: enqueueActions(({ context, enqueue }) => {
      const names = newEphemeral(context);
      for (const name of names) enqueue.sendTo(containerId(name), { type: 'container.start' });
      enqueue.assign({ turnsGiven: [...context.turnsGiven, ...names], containers: onTheirWay(context, names) });
    }),
    /** Every container but the ephemeral ones restarts in the present sandbox. */
    resetContainers: enqueueActions(({ context, enqueue }) => {
      for (const name of lastingNames(context)) enqueue.sendTo(containerId(name), { type: 'container.reset' });
    }),
    /** Those that already had their turn take no notice. */
    startRegular: enqueueActions(({ context, enqueue }) => {
      const names = afterInits(context);
      for (const name of names) enqueue.sendTo(containerId(name), { type: 'container.start' });
      enqueue.assign({ containers: onTheirWay(context, names) });
    }),
    /** One at a time: that it is being launched counts before it says so itself. */
    launchNext: enqueueActions(({ context, enqueue }) => {
      const name = nextLaunch(context);
      if (name === undefined) return;
      enqueue.sendTo(containerId(name), { type: 'container.launch' });
      enqueue.assign({
        containers: { ...context.containers, [name]: 'launching' as const },
        round: context.round.filter((each) => each !== name),
      });
    }),
    stopContainers: enqueueActions(({ context, enqueue }) => {
      for (const name of Object.keys(context.containers)) {
        enqueue.sendTo(containerId(name), stopCommand(context, name));
      }
    }),
    /** The next sidecar's turn to stop has come (C11). */
    stopNext: enqueueActions(({ context, enqueue }) => {
      const name = nextToStop(context);
      if (name === undefined) return;
      const released = [...context.released, name];
      enqueue.assign({ released });
      enqueue.sendTo(containerId(name), stopCommand({ ...context, released }, name));
    }),
    unmountVolumes: enqueueActions(({ context, enqueue }) => {
      for (const name of Object.keys(context.volumes)) enqueue.sendTo(volumeId(name), { type: 'volume.unmount' });
    }),
    /** A full look at the pod: what was known of a container and is not shown any more is told as absent. */
    observe: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== 'runtime.podObserved') return;
      enqueue.assign({ observed: event.pod });
      for (const container of event.pod.containers) {
        if (!Object.hasOwn(context.containers, container.name)) continue;
        enqueue.sendTo(containerId(container.name), {
          type: 'runtime.containerObserved',
          id: container.id,
          container,
        });
      }
      for (const { id, name } of vanished(context, event.pod)) {
        if (!Object.hasOwn(context.containers, name)) continue;
        enqueue.sendTo(containerId(name), { type: 'runtime.containerObserved', id, container: null });
      }
    }),
    /** One container's facts, read ahead of the next full look. */
    seeContainer: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== 'runtime.containerSeen') return;
      const { container } = event;
      enqueue.assign({ observed: withContainer(context.observed, container) });
      if (!Object.hasOwn(context.containers, container.name)) return;
      enqueue.sendTo(containerId(container.name), { type: 'runtime.containerObserved', id: container.id, container });
    }),
    passOnReturn: enqueueActions(({ context, enqueue }) => {
      for (const name of Object.keys(context.containers))
        enqueue.sendTo(containerId(name), { type: 'runtime.returned' });
      for (const name of Object.keys(context.volumes)) enqueue.sendTo(volumeId(name), { type: 'runtime.returned' });
    }),
    /** An admitted update: containers that the spec no longer has end, the others compare themselves with it. */
    applyUpdate: enqueueActions(({ context, enqueue }) => {
      const { asked: pod, allocated, desired, limitedSwap } = context;
      const wanted = [...containersOf(pod.spec)].map(({ container }) => container.name);
      enqueue.assign({ allocated: pod, unadmitted: resizeRefusal(pod, desired, limitedSwap) });
      if (!sameResources(resourcesOf(pod), resourcesOf(allocated))) {
        const message = resizeMessage('Pod resize started', pod);
        enqueue.emit(recordedEvent(involvedPod(pod), { reason: 'ResizeStarted', message }));
      }
      for (const name of Object.keys(context.containers)) {
        if (wanted.includes(name)) {
          enqueue.sendTo(containerId(name), { type: 'container.update', pod, volumes: mountedVolumes(context) });
        } else {
          enqueue.sendTo(containerId(name), { type: 'container.stop', leavesNothing: true });
        }
      }
    }),
    /** Of a resize that the node does not take on now the rest of the update counts all the same. */
    applyRest: enqueueActions(({ context, enqueue }) => {
      const { desired, allocated } = context;
      const pod = withResources(desired, resourcesOf(allocated));
      if (!isPendingResize(context.unadmitted) || !hasSameContainers(desired, allocated)) return;
      enqueue.assign({ allocated: pod });
      for (const name of Object.keys(context.containers)) {
        enqueue.sendTo(containerId(name), { type: 'container.update', pod, volumes: mountedVolumes(context) });
      }
    }),
    forgetRemoved: enqueueActions(({ context, enqueue }) => {
      for (const name of departed(context)) {
        enqueue.stopChild(containerId(name));
        enqueue.assign(({ context: now }) => {
          const { [name]: _gone, ...containers } = now.containers;
          return { containers };
        });
      }
    }),
  },
});
