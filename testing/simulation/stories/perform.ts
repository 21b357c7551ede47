/** Performs the actions of stories. */

import type { SimulatedSandbox } from '../../../cri/simulated/objects/views.ts';
import type { SimulatedCluster } from '../cluster/simulatedCluster.ts';
import { fullName, type SimulatedHost } from '../host/host.ts';
import type { Deeds } from '../users/deeds.ts';
import type { Users } from '../users/users.ts';
import { checkDeed } from './checkDeed.ts';
import { fullPodName, type Manifest } from './manifests.ts';
import type { Deed } from './story.ts';

/** The parts of a simulation that actions apply to. */
interface Performed {
  readonly host: SimulatedHost;
  readonly deeds: Deeds;
  readonly users: Users;
  readonly cluster: SimulatedCluster | undefined;
  readonly elapsed: number;
  kill(): void;
  stopAgent(how: { readonly drains: boolean; readonly downMs: number }): Promise<void>;
  startAgentIn(ms: number): void;
  jump(ms: number): void;
  cutPower(): void;
}

type Act<K extends Deed['kind']> = (simulation: Performed, deed: Deed & { readonly kind: K }) => void;

const acts: { readonly [K in Deed['kind']]: Act<K> } = {
  apply: ({ users }, { pod, by }) => users.apply(pod, by),
  writeInParts: ({ users }, { pod, share, restMs }) => users.applyInParts(pod, share, restMs),
  remove: ({ users, cluster }, { pod }) => {
    const full = fullPodName(pod);
    if (cluster?.pods().some(({ pod: each, mirrored }) => each === full && mirrored === undefined))
      cluster.users.delete(full);
    else users.remove(full);
  },
  renameManifest: ({ users }, { pod, file }) => users.rename(fullPodName(pod), file),
  copyManifest: ({ users }, { pod, file }) => users.copy(fullPodName(pod), file),
  renameListed: ({ users }, { pod, name }) => users.renameListed(fullPodName(pod), name),
  scribble: ({ users }, { file, text }) => users.scribble(file, text),
  spoil: ({ users }, { pod, how, forMs }) => users.spoil(fullPodName(pod), how, forMs),
  manifestsGone: ({ users }, { forMs }) => users.loseDirectory(forMs),
  url: ({ host }, { trouble, forMs }) => host.breakUrl(trouble, forMs),
  exit: ({ host }, { which, exitCode, reason }) => host.exit(which, exitCode, reason),
  oom: ({ host }, { which, child }) => host.oomKill(which, child),
  killSandbox: (simulation, { which }) => touch(simulation, simulation.host.killSandbox(which)),
  removeSandbox: (simulation, { which }) => touch(simulation, simulation.host.removeSandbox(which)),
  killAgent: (simulation, { downMs }) => {
    simulation.kill();
    simulation.startAgentIn(downMs);
  },
  stopAgent: (simulation, { drains, downMs }) => {
    if (drains) {
      simulation.users.drain();
      simulation.deeds.end(simulation.cluster?.pods().map(({ uid }) => uid) ?? []);
    }
    void simulation.stopAgent({ drains, downMs });
  },
  runtimeDown: ({ host, deeds, elapsed }, down) => {
    // A runtime that comes back unchanged is no reason for any container to stop.
    if (!down.keepContainers || down.forgets || down.recalls || down.hasUnknown) deeds.touchAll(elapsed);
    host.stopRuntime(down);
  },
  stall: ({ host }, { forMs }) => host.troubles.stall(forMs),
  networkDown: ({ host }, { forMs }) => host.troubles.breakNetwork(forMs),
  noAddresses: ({ host }, { forMs }) => host.troubles.exhaustAddresses(forMs),
  lists: ({ host }, { show, forMs }) => host.troubles.showLists(show, forMs),
  events: ({ host }, { delivery, forMs }) => host.troubles.deliverEvents(delivery, forMs),
  registryDown: ({ host }, { images, forMs }) => host.troubles.breakRegistry(images, forMs),
  loseImage: ({ host }, { image }) => host.runtime.images.discard(image),
  disk: ({ host }, { trouble, forMs }) => host.sufferFrom(trouble, forMs),
  watches: ({ host }, { trouble, forMs }) => host.watches.suffer(trouble, forMs),
  mountForeign: ({ host }, { which, at, forMs }) => host.mountForeign(which, at, forMs),
  visit: ({ host }, { uid, forMs }) => host.visit(uid, forMs),
  addresses: ({ host }, { ips }) => {
    host.addresses = ips;
  },
  cgroupsReadOnly: ({ host }, { forMs }) => host.freezeCgroups(forMs),
  flaky: ({ host }, { room, share, forMs }) => host.failCalls(room, share, forMs),
  jump: (simulation, { ms }) => simulation.jump(ms),
  powerCut: (simulation, { downMs }) => {
    simulation.cutPower();
    simulation.startAgentIn(downMs);
  },
  createPod: (simulation, { pod }) => clusterOf(simulation).users.create(pod),
  deletePod: (simulation, { pod, graceSeconds }) => clusterOf(simulation).users.delete(pod, graceSeconds),
  replacePod: (simulation, { pod }) => {
    const { users } = clusterOf(simulation);
    users.delete(fullNameOf(pod), 0);
    users.create(pod);
  },
  labelPod: (simulation, { pod, labels }) => clusterOf(simulation).users.label(pod, labels),
  failPod: (simulation, { pod }) => clusterOf(simulation).users.fail(pod),
  setImage: (simulation, { pod, container, image }) => clusterOf(simulation).users.setImage(pod, container, image),
  putObject: (simulation, { object }) => clusterOf(simulation).users.putObject(object),
  deleteObject: (simulation, { of, name }) => clusterOf(simulation).users.deleteObject(of, name),
  remakeObject: (simulation, { object }) => {
    const { users } = clusterOf(simulation);
    users.deleteObject(object.of, object.name);
    users.putObject(object);
  },
  apiPart: (simulation, { part, how, forMs }) => clusterOf(simulation).breakPart(part, how, forMs),
  apiAway: (simulation, { how, forMs }) => clusterOf(simulation).goAway(how, forMs),
  apiSilent: (simulation, { forMs }) => clusterOf(simulation).silenceWatches(forMs),
  apiRestart: (simulation, how) => clusterOf(simulation).restart(how),
};

const fullNameOf = ({ metadata: { namespace = 'default', name } }: Manifest): string => `${namespace}/${name}`;

function clusterOf({ cluster }: Performed): SimulatedCluster {
  if (cluster === undefined) throw new TypeError('this node belongs to no cluster: simulate it with `cluster`');
  return cluster;
}

export function perform(simulation: Performed, deed: Deed): void {
  checkDeed(deed);
  // The function of a kind accepts the actions of that kind.
  (acts[deed.kind] as Act<Deed['kind']>)(simulation, deed as never);
}

function touch({ deeds, elapsed }: Performed, found: SimulatedSandbox | undefined): void {
  if (found) deeds.touch(fullName(found), elapsed);
}
