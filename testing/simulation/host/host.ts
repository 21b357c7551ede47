/** The host, which outlives its agents: the runtime with its containers, the disk and the manifests. */
import { dirname } from 'node:path';
import type { SimulatedServer } from '../../../actors/simulated/connection.ts';
import { SimulatedDriverHost } from '../../../actors/simulated/simulatedDrivers.ts';
import { canonicalIpOrText } from '../../../base/ipAddress.ts';
import { createPidGenerator } from '../../../cri/simulated/objects/ids.ts';
import type { RuntimeEffect, SimulatedContainer, SimulatedSandbox } from '../../../cri/simulated/objects/views.ts';
import { createSimulatedRuntime, type SimulatedRuntime } from '../../../cri/simulated/runtime.ts';
import type { CgroupTree } from '../../../host/simulated/cgroupTree.ts';
import { SimulatedKernelLog } from '../../../host/simulated/kernelLog.ts';
import { MemoryDisk } from '../../../host/simulated/memoryDisk.ts';
import { MemoryFiles } from '../../../host/simulated/memoryFiles.ts';
import { SimulatedLogind } from '../../../host/simulated/simulatedLogind.ts';
import type { DiskLayout } from '../../../kubernetes/eviction/layout.ts';
import type { OomKill } from '../../../kubernetes/lifecycle/oomKill.ts';
import { DirectoryWatches } from '../faults/directoryWatches.ts';
import { type DiskFault, diskCallFault, FlakyTarget, type UrlFault } from '../faults/hostFaults.ts';
import { maxLatency } from '../faults/latencies.ts';
import { RuntimeFaults, type RuntimeRestart } from '../faults/runtimeFaults.ts';
import { TemporaryFaults } from '../faults/temporaryFaults.ts';
import type { Random } from '../random.ts';
import type { CallFault, CallTarget, OutsideCall } from '../run/gate.ts';
import type { Schedule } from '../run/schedule.ts';
import { ForeignObjects } from './foreignObjects.ts';
import { type CgroupAccess, HostCgroups } from './hostCgroups.ts';
import { type HostResource, HostResources } from './hostResources.ts';
import { MANIFEST_HOST, ManifestSources } from './manifestSources.ts';
import { podRemains } from './podRemains.ts';
import { REGISTRIES, writeProvidedFiles } from './providedFiles.ts';
import { serverOfContainer } from './servers.ts';
import { SimulatedDevices } from './simulatedDevices.ts';
import { writeFile } from './writeFile.ts';

/** Paths on the simulated disk. */
export const PATHS = {
  root: '/simulated/lib',
  logs: '/simulated/log/pods',
  manifests: '/simulated/manifests',
  classes: '/simulated/classes',
} as const;

export const NODE_NAME = 'node-1';
/** The initial address of the host. */
export const HOST_IP = '192.0.2.1';

/** The image that is present from the start. Others have to be pulled. */
export const PRESENT_IMAGE = 'registry.local/present:1';

/** The memory of a process that the OOM killer kills, in bytes. */
const KILLED_BYTES = 64 * 2 ** 20;
const FIRST_KILLED_PID = 4_001;

/** Duration of a restart of the runtime that the agent requests. */
const RESTART_MS = 500;

/** Delay between the exit of a different agent's pod and its removal. */
const REMOVAL_DELAY_MS = 1_500;

/** The full name of a pod, `namespace/name`. */
export const fullName = ({ namespace, podName }: Pick<SimulatedSandbox, 'namespace' | 'podName'>): string =>
  `${namespace}/${podName}`;

interface HostParts {
  /** Called with each effect in the runtime, except for effects on the objects of other agents. */
  readonly onEffect: (effect: RuntimeEffect) => void;
  /** Default: `writable`. */
  readonly cgroups?: CgroupAccess | undefined;
  /** Default: `single`. */
  readonly diskLayout?: DiskLayout | undefined;
}

export class SimulatedHost {
  readonly clock: Schedule;
  readonly disk: MemoryDisk;
  readonly runtime: SimulatedRuntime;
  /** The disk without faults, for everything but the agent. */
  readonly files: MemoryFiles;
  readonly manifests: ManifestSources;
  readonly kernelLog: SimulatedKernelLog;
  readonly logind = new SimulatedLogind();
  /** The drivers of resource claims. */
  readonly drivers = new SimulatedDriverHost();
  readonly runtimeFaults: RuntimeFaults;
  /** The directories that agents watch. */
  readonly watches: DirectoryWatches;
  /** The processes that the OOM killer has killed since the last boot. */
  oomKills: readonly OomKill[] = [];
  readonly resources: HostResources;
  readonly devices: SimulatedDevices;
  /** The addresses of the host. The first is the primary one. */
  addresses: readonly string[] = [HOST_IP];
  /** Returns the fault of a call while the disk has a fault. */
  #diskFault: ((call: OutsideCall) => CallFault | undefined) | undefined;
  #flaky: FlakyTarget | undefined;
  readonly #cgroups: HostCgroups;
  readonly #temporaryFaults: TemporaryFaults;
  /** Draws the failing calls to a flaky target and the partial effects on a faulty disk. */
  readonly #faultRandom: Random;
  readonly #foreign: ForeignObjects;
  readonly #nextKilledPid = createPidGenerator(FIRST_KILLED_PID);
  /** Whether calls to the runtime have a latency. The initial objects are created without latency. */
  #isOpen = false;

  constructor(
    clock: Schedule,
    random: Random,
    { onEffect, cgroups = 'writable', diskLayout: layout = 'single' }: HostParts,
  ) {
    this.clock = clock;
    const latencies = random.fork();
    this.disk = new MemoryDisk(clock.now, () => clock.elapsed);
    this.files = new MemoryFiles(this.disk);
    this.runtime = createSimulatedRuntime({
      clock,
      latency: (call) => (this.#isOpen ? latencies.between(0, maxLatency(call)) : 0),
      images: { present: [PRESENT_IMAGE], ...REGISTRIES },
      random: random.fork().fraction,
      logCalls: false,
      onEffect: (effect) => {
        this.#createLog(effect);
        this.runtimeFaults.noteEffect(effect);
        this.#foreign.noteEffect(effect);
        if (!this.#foreign.isForeignRun((effect.container ?? effect.sandbox).id)) onEffect(effect);
      },
    });
    this.kernelLog = new SimulatedKernelLog(clock.now);
    this.resources = new HostResources({ layout, now: clock.now, containers: () => this.containers() });
    this.#cgroups = new HostCgroups(this.runtime, cgroups);
    for (const path of Object.values(PATHS)) this.disk.createDirectories(path);
    this.disk.createDirectories('/etc');
    writeFile(this.disk, '/etc/hosts', '127.0.0.1 localhost\n');
    writeProvidedFiles(this.disk, PATHS);
    this.manifests = new ManifestSources(this.disk, PATHS.manifests);
    this.#temporaryFaults = new TemporaryFaults(clock);
    this.devices = new SimulatedDevices(this.#temporaryFaults);
    this.watches = new DirectoryWatches(clock, this.#temporaryFaults);
    this.runtimeFaults = new RuntimeFaults(this.runtime, {
      clock,
      temporaryFaults: this.#temporaryFaults,
      random: random.fork(),
    });
    const foreignPaths = { ...PATHS, sharesCgroups: random.chance(0.5) };
    this.#faultRandom = random.fork();
    this.#foreign = new ForeignObjects(foreignPaths, this.disk, this.files, this.runtime);
  }

  /** Creates the objects of other agents. */
  async open(): Promise<void> {
    await this.#foreign.create(PRESENT_IMAGE);
    this.#foreign.boot(this.cgroups);
    this.#isOpen = true;
  }

  /** The cgroups since the last boot. */
  get cgroups(): CgroupTree {
    return this.#cgroups.tree;
  }

  /** The agent's access to the cgroups. */
  get cgroupAccess(): CgroupAccess {
    return this.#cgroups.access;
  }

  container(id: string): SimulatedContainer | undefined {
    return this.runtime.container(id);
  }

  /** Returns the agent's running containers that match, oldest first. */
  running(matches: (container: SimulatedContainer) => boolean = () => true): SimulatedContainer[] {
    const containers: SimulatedContainer[] = [];
    for (const each of this.runtime.containers()) {
      if (each.state === 'running' && matches(each) && !this.#foreign.isForeignRun(each.id)) containers.push(each);
    }
    return containers;
  }

  /** Returns the agent's containers, running or not. */
  containers(): SimulatedContainer[] {
    return [...this.runtime.containers()].filter(({ id }) => !this.#foreign.isForeignRun(id));
  }

  sandboxes(): SimulatedSandbox[] {
    return [...this.runtime.sandboxes()].filter(({ id }) => !this.#foreign.isForeignRun(id));
  }

  /** Returns what remains of the agent's pods, except for the pods with the UIDs in `but`. */
  podRemains(but: readonly string[] = []): readonly string[] {
    const cgroups = this.#cgroups.podCgroups.filter((path) => !this.#foreign.ownsCgroup(path));
    const isForeign = (path: string) => this.#foreign.owns(path);
    return podRemains({ ...PATHS, disk: this.disk, files: this.files, cgroups, isForeign }, but);
  }

  /** Whether an ID or a path belongs to a different agent or program. */
  isForeign(about: string): boolean {
    return this.#foreign.owns(about);
  }

  /** Returns descriptions of the changes to the objects of other agents and programs. */
  foreignChanges(): string[] {
    return this.#foreign.changes(this.cgroups);
  }

  /** Returns the server at an address, which is a running container or the server at the manifest URL. */
  serverAt(host: string, port: number): SimulatedServer | undefined {
    if (host === MANIFEST_HOST) return this.manifests.server();
    // The simulated runtime assigns canonical addresses.
    const target = canonicalIpOrText(host);
    const container = this.containers().findLast(
      ({ state, sandbox }) => state === 'running' && (sandbox.ip ? [sandbox.ip] : this.addresses).includes(target),
    );
    if (container?.startedAt === undefined) return undefined;
    return serverOfContainer(port, Math.max(0, this.clock.now() - container.startedAt));
  }

  /** Ends all faults. */
  recover(): void {
    this.#temporaryFaults.endAll();
    const isUnknown = [...this.runtime.containers()].some((each) => this.runtimeFaults.isUnknown(each.id));
    if (!this.runtime.isUp || isUnknown) this.runtime.restart();
    // A container with the pull policy Never would otherwise wait for this image forever.
    if (this.runtime.images.find(PRESENT_IMAGE) === undefined) this.runtime.images.add(PRESENT_IMAGE);
  }

  /** Makes the running container that `which` selects exit. Does nothing if none is running. */
  exit(which: number, exitCode: number, reason?: string): void {
    const container = itemModulo(this.running(), which);
    if (container) this.runtime.exitContainer(container.id, exitCode, ...(reason === undefined ? [] : [reason]));
  }

  killSandbox(which: number): SimulatedSandbox | undefined {
    const sandbox = itemModulo(this.sandboxes(), which);
    if (sandbox) this.runtime.killSandbox(sandbox.id);
    return sandbox;
  }

  removeSandbox(which: number): SimulatedSandbox | undefined {
    const sandbox = itemModulo(this.sandboxes(), which);
    if (sandbox) this.runtime.removeSandbox(sandbox.id);
    return sandbox;
  }

  /**
   * Lets the OOM killer kill a process in the running container that `which` selects, if any. With `child`, it kills a
   * child process, so that the container keeps running.
   */
  oomKill(which: number, child: boolean): void {
    const container = itemModulo(this.running(), which);
    if (container === undefined) return;
    this.#noteOomKill(container, cgroupPath(container));
    this.runtime.oomKill(container.id, { child });
  }

  /** Lets the whole system run out of memory. The OOM killer kills a container, or a process outside of containers. */
  runOutOfMemory(which: number): void {
    const container = itemModulo(this.running(), which);
    this.#noteOomKill(container, '/');
    if (container) this.runtime.oomKill(container.id);
  }

  #noteOomKill(container: SimulatedContainer | undefined, limitedCgroup: string): void {
    const kill = {
      at: this.clock.now(),
      pid: this.#nextKilledPid(),
      processName: container?.containerName ?? 'cron',
      memoryBytes: KILLED_BYTES,
      cgroup: container ? cgroupPath(container) : '/system.slice/cron.service',
      limitedCgroup,
    };
    this.oomKills = [...this.oomKills, kill];
    this.kernelLog.writeOomKill(kill);
  }

  stopRuntime(how: RuntimeRestart): void {
    this.runtimeFaults.restart(how, (id) => !this.#foreign.isForeignRun(id));
    if (!how.keepContainers) this.clock.setTimeout(() => this.#foreign.noteLostProcesses(), how.downMs);
  }

  /** Restarts the runtime on behalf of the agent. */
  restartRuntime(): void {
    this.stopRuntime({ downMs: RESTART_MS, keepContainers: true });
  }

  /** Returns the fault of a call that results from a fault of the host. */
  faultOf(call: OutsideCall): CallFault | undefined {
    return this.#diskFault?.(call) ?? this.#flaky?.faultOf(call);
  }

  /** Lets programs other than pods use a share of a resource for `forMs`. */
  usePartly(resource: HostResource, share: number, forMs: number): void {
    this.resources.setOtherUsage(resource, share);
    this.#temporaryFaults.start(`pressure on ${resource}`, forMs, () => this.resources.setOtherUsage(resource, 0));
  }

  /** Makes a share of the calls to a target fail, from 0 to 1. */
  failCalls(target: CallTarget, share: number, forMs: number): void {
    this.#flaky = new FlakyTarget(target, share, this.#faultRandom.fork());
    this.#temporaryFaults.start('flaky', forMs, () => {
      this.#flaky = undefined;
    });
  }

  breakDisk(fault: DiskFault, forMs: number): void {
    const random = this.#faultRandom.fork();
    this.#diskFault = (call) => diskCallFault(fault, call, random);
    this.#temporaryFaults.start('disk', forMs, () => {
      this.#diskFault = undefined;
    });
  }

  /** Stops logind, which breaks its connections and cancels a shutdown. */
  stopLogind(forMs: number): void {
    this.logind.stop();
    this.#temporaryFaults.start('logind', forMs, () => this.logind.start());
  }

  /** Mounts a foreign file system at the path `at` in the directory of one of the agent's pods, if there is one. */
  mountForeign(which: number, at: string, forMs: number): void {
    const pods = `${PATHS.root}/pods`;
    const own = this.files.existsSync(pods)
      ? // A directory whose name starts with a dot is still being created.
        this.files.readdirSync(pods).filter((uid) => !uid.startsWith('.') && !this.isForeign(`${pods}/${uid}`))
      : [];
    const uid = itemModulo(own, which);
    if (uid === undefined) return;
    this.#foreign.mountAt(`${pods}/${uid}/${at}`);
    this.#temporaryFaults.start('foreign mount', forMs, () => this.#foreign.unmountAll());
  }

  /** Runs a pod of a different agent for `forMs`. */
  runForeignPod(uid: string, forMs: number): void {
    this.#foreign.startPod(uid, PRESENT_IMAGE, this);
    this.#temporaryFaults.start(`visit ${uid}`, forMs, () => {
      this.#foreign.stopPod(uid);
      this.clock.setTimeout(() => this.#foreign.removePod(uid, this), REMOVAL_DELAY_MS);
    });
  }

  /** Makes the cgroups read-only for the agent. */
  freezeCgroups(forMs: number): void {
    this.#cgroups.freeze();
    this.#temporaryFaults.start('cgroups', forMs, () => this.#cgroups.thaw());
  }

  loseManifests(forMs: number): void {
    this.manifests.goAway();
    this.#temporaryFaults.start('manifests', forMs, () => this.manifests.comeBack());
  }

  breakUrl(fault: UrlFault, forMs: number): void {
    this.manifests.urlFault = fault;
    this.#temporaryFaults.start('url', forMs, () => {
      this.manifests.urlFault = undefined;
    });
  }

  /** Creates the log of a container that starts, if its directory exists. */
  #createLog({ kind, container }: RuntimeEffect): void {
    if (kind !== 'started' || !container?.logPath || !this.files.existsSync(dirname(container.logPath))) return;
    writeFile(this.disk, container.logPath, '');
  }

  /** Cuts the power. All processes stop, and only synced data remain on the disk. */
  cutPower(random: Random): void {
    this.disk.cutPower(random.fraction);
    this.#cgroups.boot();
    this.kernelLog.boot();
    this.logind.boot();
    this.oomKills = [];
    this.runtime.restart({ keepContainers: false });
    this.#foreign.boot(this.cgroups);
    this.#foreign.noteLostProcesses();
  }
}

/** Returns the path of a container's cgroup as the kernel writes it. */
const cgroupPath = ({ cgroup }: SimulatedContainer): string => `/${cgroup.replace(/^\/+/, '')}`;

/** Returns the item at an index modulo the length. */
const itemModulo = <T>(all: readonly T[], which: number): T | undefined => all[which % Math.max(1, all.length)];
