import type { HostResource } from '../../host/hostResources.ts';
import { type ManifestSpec, manifest } from '../manifests.ts';
import type { TargetedFault } from '../variants/targetedFaults.ts';
import {
  apply,
  at,
  BROKEN,
  faultAt,
  fixedPod,
  killAgent,
  late,
  mainContainer,
  type PointedStory,
  pointedStory,
  remove,
  SECOND,
  STUBBORN,
  secondImage,
  shell,
  UNKNOWN,
} from './pointedStory.ts';

/** Makes other programs use a share of a resource for `forSeconds`, by default nearly all of it. */
const pressure = (seconds: number, resource: HostResource, forSeconds: number, share = 0.99) =>
  at(seconds, { kind: 'pressure', resource, share, forMs: forSeconds * SECOND });

const create = (name: string, spec: Partial<ManifestSpec> = {}) =>
  at(0, { kind: 'createPod', pod: manifest(name, { containers: [mainContainer()], ...spec }) });

/** Container `main` with an image that has to be pulled. */
const pulledContainer = mainContainer(secondImage);

/** Returns a story of a cluster's node on which the resource is short for a minute, starting after 30 s. */
const shortage = (
  resource: HostResource,
  { pods, faults = [] }: { readonly pods: readonly ReturnType<typeof create>[]; readonly faults?: TargetedFault[] },
): PointedStory => ({
  ...pointedStory([...pods, pressure(30, resource, 60)], faults, 150 * SECOND),
  inCluster: true,
  evicts: true,
});

const critical = create('critical', { priorityClassName: 'system-node-critical' });
const crashing = create('crashing', { containers: [mainContainer({ command: shell('exit 1'), ...secondImage })] });

/** Stories in which a resource of the host is short, so that pods are evicted. */
export const shortages: Readonly<Record<string, PointedStory>> = {
  'memory runs short until all pods but a critical one are evicted': shortage('memory', {
    pods: [critical, create('web'), create('other')],
  }),
  'processes run short on a node with only a critical pod': shortage('processes', { pods: [critical] }),
  'the disk runs short, and dead containers are removed': shortage('disk', { pods: [crashing, create('web')] }),
  'the disk runs short, and neither containers nor images can be removed': shortage('disk', {
    pods: [crashing, create('web')],
    faults: [
      faultAt('runtime', 'removeContainer', UNKNOWN, { times: 20 }),
      faultAt('runtime', 'listImages', UNKNOWN, { times: 20 }),
    ],
  }),
  'the disk has space again by the time that dead containers are removed': {
    ...pointedStory(
      [crashing, create('web'), pressure(35, 'disk', 12)],
      [faultAt('runtime', 'removeContainer', late(15))],
      150 * SECOND,
    ),
    inCluster: true,
    evicts: true,
  },
  'an evicted pod stops late': shortage('memory', {
    pods: [create('web', { containers: [mainContainer({ command: STUBBORN })] })],
    faults: [faultAt('runtime', 'stopContainer', late(40))],
  }),
  'the files of an evicted pod are removed late': shortage('memory', {
    pods: [create('web', { volumes: [{ name: 'scratch', emptyDir: {} }] }), create('other')],
    faults: [faultAt('runtime', 'removePodSandbox', late(60)), faultAt('runtime', 'stopPodSandbox', late(60))],
  }),
  "the node's resources cannot be measured at first": shortage('disk', {
    pods: [crashing, create('web')],
    faults: [faultAt('cgroups', 'measureNode', BROKEN), faultAt('cgroups', 'measureNode', BROKEN, { skip: 4 })],
  }),
  'the usage of the pods cannot be measured at first': shortage('memory', {
    pods: [create('web')],
    faults: [faultAt('cgroups', 'measurePods', BROKEN)],
  }),
  'inodes run short, and the runtime does not stop the evicted pod at first': shortage('inodes', {
    pods: [critical, create('web'), create('other')],
    faults: [faultAt('runtime', 'stopContainer', UNKNOWN, { times: 2 })],
  }),
  'the separate disk of images runs short, and the images cannot be listed': {
    ...shortage('imageDisk', {
      pods: [crashing, create('web'), create('other')],
      faults: [faultAt('runtime', 'listImages', UNKNOWN, { skip: 1, times: 4 })],
    }),
    diskLayout: 'separateImages',
  },
  'the disk runs short on a host on which only the images are on another one': {
    ...shortage('disk', { pods: [crashing, create('web'), create('other')] }),
    diskLayout: 'split',
  },
  'the agent is killed while a pod is being evicted': {
    ...pointedStory(
      [
        create('web', { containers: [mainContainer({ command: STUBBORN })] }),
        pressure(30, 'memory', 60),
        killAgent(41),
      ],
      [],
      150 * SECOND,
    ),
    inCluster: true,
    evicts: true,
  },
  'processes are scarce, but no threshold is met': {
    ...pointedStory([create('web'), pressure(30, 'processes', 60, 0.85)], [], 120 * SECOND),
    inCluster: true,
    evicts: true,
  },
  'the disk runs short while a pod has checked an image, but its container cannot be created yet': {
    ...pointedStory(
      [
        apply(0, manifest('job', { containers: [pulledContainer] })),
        remove(480, 'job'),
        apply(585, fixedPod('later', { containers: [pulledContainer] })),
        pressure(586, 'disk', 60),
      ],
      [faultAt('runtime', 'runPodSandbox', late(30), { about: 'uid-of-later' })],
      720 * SECOND,
    ),
    evicts: true,
  },
};
