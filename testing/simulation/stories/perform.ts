/** Performs the actions of stories. */

import type { SimulatedSandbox } from '../../../cri/simulated/objects/views.ts';
import type { SimulatedCluster } from '../cluster/simulatedCluster.ts';
import { fullName, type SimulatedHost } from '../host/host.ts';
import type { ActionLog } from '../users/actionLog.ts';
import type { Users } from '../users/users.ts';
import { checkAction } from './checkAction.ts';
import { fullPodName, type Manifest } from './manifests.ts';
import type { Action } from './story.ts';

/** The parts of a simulation that actions apply to. */
interface PerformTarget {
  readonly host: SimulatedHost;
  readonly actionLog: ActionLog;
  readonly users: Users;
  readonly cluster: SimulatedCluster | undefined;
  readonly elapsed: number;
  kill(): void;
  stopAgent(how: { readonly drains: boolean; readonly downMs: number }): Promise<void>;
  startAgentIn(ms: number): void;
  setClock(ms: number): void;
  cutPower(): void;
}

type Performer<K extends Action['kind']> = (simulation: PerformTarget, action: Action & { readonly kind: K }) => void;

const performers: { readonly [K in Action['kind']]: Performer<K> } = {
  apply: ({ users }, { pod, by }) => users.apply(pod, by),
  writeInParts: ({ users }, { pod, share, restMs }) => users.applyInParts(pod, share, restMs),
  remove: ({ users, cluster }, { pod }) => {
    const full = fullPodName(pod);
    if (cluster?.pods().some(({ pod: each, mirroredUid }) => each === full && mirroredUid === undefined))
      cluster.users.delete(full);
    else users.remove(full);
  },
  renameManifest: ({ users }, { pod, file }) => users.rename(fullPodName(pod), file),
  copyManifest: ({ users }, { pod, file }) => users.copy(fullPodName(pod), file),
  renameListed: ({ users }, { pod, name }) => users.renameListed(fullPodName(pod), name),
  scribble: ({ users }, { file, text }) => users.writeInvalidFile(file, text),
  spoil: ({ users }, { pod, how, forMs }) => users.corrupt(fullPodName(pod), how, forMs),
  manifestsGone: ({ users }, { forMs }) => users.loseDirectory(forMs),
  url: ({ host }, { fault, forMs }) => host.breakUrl(fault, forMs),
  exit: ({ host }, { which, exitCode, reason }) => host.exit(which, exitCode, reason),
  oom: ({ host }, { which, child }) => host.oomKill(which, child),
  systemOom: ({ host }, { which }) => host.runOutOfMemory(which),
  killSandbox: (simulation, { which }) => noteSandboxCause(simulation, simulation.host.killSandbox(which)),
  removeSandbox: (simulation, { which }) => noteSandboxCause(simulation, simulation.host.removeSandbox(which)),
  killAgent: (simulation, { downMs }) => {
    simulation.kill();
    simulation.startAgentIn(downMs);
  },
  stopAgent: (simulation, { drains, downMs }) => {
    if (drains) {
      simulation.users.drain();
      simulation.actionLog.noteEnded(simulation.cluster?.pods().map(({ uid }) => uid) ?? []);
    }
    void simulation.stopAgent({ drains, downMs });
  },
  runtimeDown: ({ host, actionLog, elapsed }, down) => {
    // A runtime that comes back unchanged gives no container a reason to stop.
    if (!down.keepContainers || down.forgets || down.recalls || down.hasUnknown) actionLog.noteGlobalCause(elapsed);
    host.stopRuntime(down);
  },
  stall: ({ host }, { forMs }) => host.runtimeFaults.stall(forMs),
  networkDown: ({ host }, { forMs }) => host.runtimeFaults.breakNetwork(forMs),
  noAddresses: ({ host }, { forMs }) => host.runtimeFaults.exhaustAddresses(forMs),
  lists: ({ host }, { show, forMs }) => host.runtimeFaults.showLists(show, forMs),
  events: ({ host }, { delivery, forMs }) => host.runtimeFaults.deliverEvents(delivery, forMs),
  registryDown: ({ host }, { images, forMs }) => host.runtimeFaults.breakRegistry(images, forMs),
  loseImage: ({ host }, { image }) => host.runtime.images.discard(image),
  imageDiskFull: ({ host }, { forMs }) => host.runtimeFaults.fillImageDisk(forMs),
  disk: ({ host }, { fault, forMs }) => host.breakDisk(fault, forMs),
  watches: ({ host }, { fault, forMs }) => host.watches.startFault(fault, forMs),
  mountForeign: ({ host }, { which, at, forMs }) => host.mountForeign(which, at, forMs),
  visit: ({ host }, { uid, forMs }) => host.runForeignPod(uid, forMs),
  addresses: ({ host }, { ips }) => {
    host.addresses = ips;
  },
  cgroupsReadOnly: ({ host }, { forMs }) => host.freezeCgroups(forMs),
  flaky: ({ host }, { target, share, forMs }) => host.failCalls(target, share, forMs),
  shutdown: ({ host }, { isCancelled }) => host.logind.announce(!isCancelled),
  logindDown: ({ host }, { forMs }) => host.stopLogind(forMs),
  pressure: ({ host }, { resource, share, forMs }) => host.usePartly(resource, share, forMs),
  pluginDown: ({ host }, { forMs }) => host.devices.stopPlugin(forMs),
  deviceDown: ({ host }, { which, forMs }) => host.devices.breakDevice(which, forMs),
  jump: (simulation, { ms }) => simulation.setClock(ms),
  powerCut: (simulation, { downMs }) => {
    simulation.cutPower();
    simulation.startAgentIn(downMs);
  },
  connectDriver: ({ host }, { driver }) => host.drivers.connect(driver),
  disconnectDriver: ({ host }, { driver }) => host.drivers.disconnect(driver),
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

function clusterOf({ cluster }: PerformTarget): SimulatedCluster {
  if (cluster === undefined) throw new TypeError('this node belongs to no cluster: simulate it with `cluster`');
  return cluster;
}

export function perform(simulation: PerformTarget, action: Action): void {
  checkAction(action);
  // Safe cast: the function for a kind accepts the actions of that kind.
  (performers[action.kind] as Performer<Action['kind']>)(simulation, action as never);
}

function noteSandboxCause({ actionLog, elapsed }: PerformTarget, found: SimulatedSandbox | undefined): void {
  if (found) actionLog.noteCause(fullName(found), elapsed);
}
