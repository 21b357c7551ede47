/** What a call to the outside is about, for people: names and numbers alone, nothing that may be secret. */
import type { KnownContainer, PortName, PortTypes } from '../machines/shared/ports.ts';

/** A call that goes out, or that whoever made it waits for no more. */
export interface Asked {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The path of ids of the actor that its answer enters. */
  readonly actor: string;
  readonly port: PortName;
  /** Which container, image or volume, where the actor alone does not tell; absent from one that is given up. */
  readonly about?: string;
  readonly isGivenUp?: true;
}

type About = { readonly [K in PortName]: (input: PortTypes[K]['input']) => string };

const ofNothing = () => '';
const ofContainer = ({ container }: Pick<KnownContainer, 'container'>) => container;
const ofAttempt = (name: string, attempt: number) => (attempt === 0 ? name : `${name} attempt ${attempt}`.trim());
const ofMany = ({ ids: { length } }: { readonly ids: readonly string[] }) => (length > 1 ? `${length}` : '');

const abouts: About = {
  registerNode: ofNothing,
  ensureCsiNode: ofNothing,
  putNodeStatus: ofNothing,
  renewLease: ofNothing,
  createMirror: ofNothing,
  removeMirror: ofNothing,
  readNode: ofNothing,
  readCertificate: ({ name }) => name,
  requestCertificate: ({ name }) => name,
  awaitCertificate: ({ name, request }) => `${name} ${request}`,
  putStatus: ({ sink }) => sink,
  preparePod: ofNothing,
  setUpCgroups: ofNothing,
  prepareCgroup: ofNothing,
  removeCgroup: ofNothing,
  removePodData: ofNothing,
  fitPod: ofNothing,
  inspectSandbox: ofNothing,
  surveyDisk: ofNothing,
  mountVolume: ({ volume }) => volume,
  unmountVolume: ({ volume }) => volume,
  runSandbox: ({ attempt }) => ofAttempt('', attempt),
  stopSandboxes: ofMany,
  removeSandboxes: ofMany,
  removeContainers: ofMany,
  restartRuntime: ({ why }) => why,
  findImage: ({ image }) => image,
  pullImage: ({ image }) => image,
  countRestarts: ({ containers }) => containers.join(', '),
  readObjects: ofContainer,
  createContainer: ({ container, attempt }) => ofAttempt(container, attempt),
  startContainer: ofContainer,
  resizeContainer: ofContainer,
  inspectContainer: ofContainer,
  stopContainer: ({ container, graceSeconds }) => `${container}, ${graceSeconds}s`,
  removeGarbage: ({ containers, sandboxes }) => `${containers.length} containers, ${sandboxes.length} sandboxes`,
  rotateLogs: ({ logs }) => `${logs.length}`,
  runHook: ({ container, hook }) => `${container} ${hook}`,
  runProbe: ({ container, kind }) => `${container} ${kind}`,
  pickMoment: ofNothing,
};

/** In a word or two; empty where the port and the actor say it all. */
export const aboutOf = <K extends PortName>(port: K, input: PortTypes[K]['input']): string => abouts[port](input);
