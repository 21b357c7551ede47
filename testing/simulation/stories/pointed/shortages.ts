import type { HostResource } from '../../host/hostResources.ts';
import { type ManifestSpec, manifest } from '../manifests.ts';
import type { TargetedFault } from '../variants/targetedFaults.ts';
import {
  at,
  BROKEN,
  faultAt,
  late,
  mainContainer,
  type PointedStory,
  pointedStory,
  SECOND,
  STUBBORN,
  secondImage,
  shell,
  UNKNOWN,
} from './pointedStory.ts';

/** Other programs use nearly all of a resource for `forSeconds`. */
const pressure = (seconds: number, resource: HostResource, forSeconds: number) =>
  at(seconds, { kind: 'pressure', resource, share: 0.99, forMs: forSeconds * SECOND });

const create = (name: string, spec: Partial<ManifestSpec> = {}) =>
  at(0, { kind: 'createPod', pod: manifest(name, { containers: [mainContainer()], ...spec }) });

/** A node of a cluster on which the resource runs short after 30 s, for a minute. */
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

/** A resource of the host runs short, and pods are evicted. */
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
};
