/**
 * Describes port calls briefly for users. The descriptions contain only names and numbers, so they cannot leak secrets.
 */
import type { KnownContainer, PortName, PortTypes } from '../machines/shared/ports.ts';

/** An outgoing port call, or the cancellation of one. */
export interface PortCall {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Path of the actor that receives the response. */
  readonly actor: string;
  readonly port: PortName;
  /**
   * The container, image or volume that the call concerns, if the actor's path does not name it. Absent on a
   * cancellation.
   */
  readonly about?: string;
  readonly isGivenUp?: true;
}

type PortDescriptions = { readonly [K in PortName]: (input: PortTypes[K]['input']) => string };

const omitDescription = () => '';
const containerName = ({ container }: Pick<KnownContainer, 'container'>) => container;
const attemptLabel = (name: string, attempt: number) => (attempt === 0 ? name : `${name} attempt ${attempt}`.trim());
const describeCount = ({ ids: { length } }: { readonly ids: readonly string[] }) => (length > 1 ? `${length}` : '');

const portDescriptions: PortDescriptions = {
  registerNode: omitDescription,
  ensureCsiNode: omitDescription,
  putNodeStatus: omitDescription,
  renewLease: omitDescription,
  createMirror: omitDescription,
  removeMirror: omitDescription,
  readNode: omitDescription,
  readCertificate: ({ name }) => name,
  requestCertificate: ({ name }) => name,
  awaitCertificate: ({ name, request }) => `${name} ${request}`,
  putStatus: ({ sink }) => sink,
  preparePod: omitDescription,
  setUpCgroups: omitDescription,
  prepareCgroup: omitDescription,
  removeCgroup: omitDescription,
  removePodData: omitDescription,
  resizePod: ({ containers }) => `${containers.length} containers`,
  inspectSandbox: omitDescription,
  surveyDisk: omitDescription,
  mountVolume: ({ volume }) => volume,
  unmountVolume: ({ volume }) => volume,
  runSandbox: ({ attempt }) => attemptLabel('', attempt),
  stopSandboxes: describeCount,
  removeSandboxes: describeCount,
  removeContainers: describeCount,
  restartRuntime: ({ why }) => why,
  findImage: ({ image }) => image,
  pullImage: ({ image }) => image,
  countRestarts: ({ containers }) => containers.join(', '),
  prepareDevices: containerName,
  readObjects: containerName,
  createContainer: ({ container, attempt }) => attemptLabel(container, attempt),
  startContainer: containerName,
  inspectContainer: containerName,
  stopContainer: ({ container, graceSeconds }) => `${container}, ${graceSeconds}s`,
  removeGarbage: ({ containers, sandboxes }) => `${containers.length} containers, ${sandboxes.length} sandboxes`,
  measureResources: ({ limitedUids }) => (limitedUids.length > 0 ? `${limitedUids.length} pods` : ''),
  measurePods: ({ uids, resource }) => `${resource} of ${uids.length} pods`,
  collectImages: omitDescription,
  removeUnusedImages: omitDescription,
  prepareClaims: omitDescription,
  unprepareClaims: omitDescription,
  unprepareLeftoverClaims: omitDescription,
  deleteResourceSlices: ({ driver = '' }) => driver,
  saveCpus: ({ assignments }) => `${assignments.exclusive.length} containers`,
  saveMemory: ({ assignments }) => `${assignments.containers.length} containers`,
  preferDevices: ({ resource, request }) => `${request.count} of ${resource}`,
  allocateDevices: ({ pod, container, resource, devices }) => `${pod} ${container}: ${resource} ${devices.join(', ')}`,
  saveDevices: ({ allocations }) => `${allocations.length}`,
  reconcileCpus: ({ containers }) => `${containers.length}`,
  rotateLogs: ({ logs }) => `${logs.length}`,
  runHook: ({ container, hook }) => `${container} ${hook}`,
  runProbe: ({ container, kind }) => `${container} ${kind}`,
  pickTime: omitDescription,
  readInhibitDelay: omitDescription,
  raiseInhibitDelay: ({ delayMs }) => `${delayMs} ms`,
  saveShutdown: omitDescription,
};

/**
 * Returns a short detail, e.g. a container's name, or an empty string if the port and the actor already identify the
 * call.
 */
export const describeCall = <K extends PortName>(port: K, input: PortTypes[K]['input']): string =>
  portDescriptions[port](input);
