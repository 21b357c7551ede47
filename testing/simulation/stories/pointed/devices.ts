import { DEVICE_RESOURCE } from '../../host/simulatedDevices.ts';
import { container, type Manifest } from '../manifests.ts';
import {
  apply,
  at,
  BROKEN,
  faultAt,
  fixedPod,
  killAgent,
  late,
  type PointedStory,
  pointedStory,
  remove,
  SECOND,
} from './pointedStory.ts';

/** Returns the resources of a container with this number of devices. */
const withDevices = (count: number) => ({ resources: { limits: { [DEVICE_RESOURCE]: String(count) } } });

/** Returns a pod whose container has this number of devices. */
const devicePod = (name: string, count: number): Manifest =>
  fixedPod(name, { containers: [container('main', withDevices(count))] });

/** Returns a pod whose init container has a device that its main container then reuses. */
const reusingPod = (name: string): Manifest =>
  fixedPod(name, {
    initContainers: [container('init', { command: ['true'], ...withDevices(1) })],
    containers: [container('main', withDevices(1))],
  });

const stopPlugin = (seconds: number, forSeconds: number) =>
  at(seconds, { kind: 'pluginDown', forMs: forSeconds * SECOND });

const deviceStory = (
  actions: Parameters<typeof pointedStory>[0],
  targetedFaults: Parameters<typeof pointedStory>[1] = [],
  lastsMs = 120 * SECOND,
): PointedStory => ({ ...pointedStory(actions, targetedFaults, lastsMs), hasPlugin: true });

/** Stories of pods whose containers have devices of a device plugin. */
export const devices: Readonly<Record<string, PointedStory>> = {
  'pods with devices come and go, and the agent restarts': deviceStory([
    apply(1, devicePod('first', 2)),
    apply(5, devicePod('second', 1)),
    killAgent(20, 5),
    remove(40, 'first'),
    apply(60, devicePod('third', 3)),
    killAgent(80),
  ]),
  'a pod with devices is removed while no agent runs, and another one takes its devices': deviceStory([
    apply(1, devicePod('first', 3)),
    apply(2, devicePod('second', 1)),
    killAgent(20, 20),
    remove(30, 'first'),
    apply(60, devicePod('third', 3)),
  ]),
  'a new pod arrives right after a restart': deviceStory([
    apply(1, devicePod('first', 2)),
    apply(2, reusingPod('second')),
    killAgent(20, 5),
    apply(25, devicePod('third', 1)),
  ]),
  'the plugin stops for longer than its grace period': deviceStory(
    [apply(1, devicePod('first', 2)), stopPlugin(20, 400), apply(500, devicePod('second', 1))],
    [],
    600 * SECOND,
  ),
  'the plugin restarts, and a device is unhealthy for a while': deviceStory([
    apply(1, devicePod('first', 1)),
    stopPlugin(10, 5),
    at(30, { kind: 'deviceDown', which: 3, forMs: 20 * SECOND }),
  ]),
  'an allocation is slow, and the pod is removed meanwhile': deviceStory(
    [apply(10, devicePod('first', 4)), remove(15, 'first'), apply(60, devicePod('second', 4))],
    [faultAt('network', 'allocate', late(30))],
  ),
  'the plugin fails to allocate devices': deviceStory(
    [apply(10, devicePod('first', 2)), apply(20, devicePod('second', 4))],
    [faultAt('network', 'allocate', BROKEN)],
  ),
  'the plugin fails to choose devices': deviceStory(
    [apply(10, devicePod('first', 2)), apply(20, devicePod('second', 4))],
    [faultAt('network', 'preferredDevices', BROKEN)],
  ),
  'the plugin fails to prepare devices': deviceStory(
    [apply(10, devicePod('first', 2)), apply(50, devicePod('second', 2))],
    [faultAt('network', 'preStart', BROKEN)],
  ),
  'the allocations cannot be saved for a while': deviceStory(
    [apply(10, devicePod('first', 2)), apply(50, devicePod('second', 2))],
    [faultAt('disk', 'rename', BROKEN, { about: 'kubelet_internal_checkpoint', times: 2 })],
  ),
  'an allocation is slow, and the pod waits for it': deviceStory(
    [apply(10, devicePod('first', 2))],
    [faultAt('network', 'allocate', late(30))],
  ),
};
