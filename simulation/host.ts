/** What outlives an agent: the runtime with its containers, the disk, and the manifests that somebody puts on it. */
import { basename, join } from 'node:path';
import { cgroupProcesses } from '../cri/simulated/cgroupProcesses.ts';
import type { EventDelivery } from '../cri/simulated/events.ts';
import { createSimulatedRuntime, type SimulatedRuntime } from '../cri/simulated/runtime.ts';
import type { RuntimeEffect, SimulatedContainer, SimulatedSandbox } from '../cri/simulated/views.ts';
import { CgroupTree } from '../host/simulated/cgroupTree.ts';
import type { Inode } from '../host/simulated/inodes.ts';
import { MemoryDisk } from '../host/simulated/memoryDisk.ts';
import { MemoryFiles } from '../host/simulated/memoryFiles.ts';
import { lookUp } from '../pod/lookUp.ts';
import type { Random } from './random.ts';
import type { Schedule } from './schedule.ts';

/** Where things lie on the simulated disk. */
export const PLACES = {
  root: '/simulated/lib',
  logs: '/simulated/log/pods',
  manifests: '/simulated/manifests',
} as const;

/** The directory of a pod that another agent has left below the same root. */
const FOREIGN = `${PLACES.root}/pods/foreign`;

export const NODE_NAME = 'node-1';

/** The image that is on the node from the start; others have to be pulled. */
export const PRESENT_IMAGE = 'registry.local/present:1';

/** So many times what it usually takes a call takes at most. */
const SLOWEST = 4;

/** About what a real runtime takes, in milliseconds; what is not here takes one. */
const USUAL: Readonly<Record<string, number>> = {
  ...{ runPodSandbox: 84, stopPodSandbox: 30, removePodSandbox: 13, createContainer: 8, startContainer: 56 },
  ...{ stopContainer: 25, removeContainer: 3, updateContainerResources: 10, execSync: 30, pullImage: 20 },
};

/** The full name of a pod. */
export const fullName = ({ namespace, podName }: Pick<SimulatedSandbox, 'namespace' | 'podName'>): string =>
  `${namespace}/${podName}`;

export class SimulatedHost {
  readonly clock: Schedule;
  readonly disk: MemoryDisk;
  readonly runtime: SimulatedRuntime;
  /** Those of the present boot. */
  cgroups: CgroupTree;
  /** The disk as everybody else sees it, whom no fault concerns. */
  readonly files: MemoryFiles;

  constructor(clock: Schedule, random: Random, onEffect: (effect: RuntimeEffect) => void) {
    this.clock = clock;
    const latencies = random.fork();
    this.disk = new MemoryDisk(clock.now);
    this.files = new MemoryFiles(this.disk);
    this.runtime = createSimulatedRuntime({
      clock,
      latency: (call) => latencies.between(0, (lookUp(USUAL, call) ?? 1) * SLOWEST),
      images: { present: [PRESENT_IMAGE], anyPullable: true },
      random: random.fork().fraction,
      logCalls: false,
      onEffect,
    });
    this.cgroups = new CgroupTree('v2', cgroupProcesses(this.runtime));
    for (const place of Object.values(PLACES)) this.disk.makeDirectories(place);
    this.disk.makeDirectories('/etc');
    this.#write('/etc/hosts', '127.0.0.1 localhost\n');
    this.disk.makeDirectories(`${FOREIGN}/volumes`);
    this.#write(`${FOREIGN}/etc-hosts`, '');
    this.#syncAll(this.disk.root);
  }

  containers(): SimulatedContainer[] {
    return [...this.runtime.containers()];
  }

  sandboxes(): SimulatedSandbox[] {
    return [...this.runtime.sandboxes()];
  }

  /** What is there of the agent's pods: their directories, logs, links, facts, mounts and cgroups. */
  left(): readonly string[] {
    const { root, logs } = PLACES;
    const folders = [`${root}/pods`, logs, join(logs, '..', 'containers')];
    const facts = ['allocations', 'statuses', 'unacknowledged', 'probes', 'manifests'];
    const paths = [...folders, ...facts.map((kind) => `${root}/statelet/${kind}`)].flatMap((folder) =>
      this.files.existsSync(folder) ? this.files.readdirSync(folder).map((name) => `${folder}/${name}`) : [],
    );
    return [
      ...paths.filter((path) => !this.isForeign(path)),
      ...this.disk.mounts.map(({ path }) => `the mount at ${path}`),
      ...this.cgroups.paths.filter((path) => basename(path).startsWith('pod')).map((path) => `the cgroup ${path}`),
    ];
  }

  /** Whether a path is of the pod that somebody else has here. */
  isForeign(path: string): boolean {
    return path === FOREIGN || path.startsWith(`${FOREIGN}/`);
  }

  /** Everything is well again. */
  recover(): void {
    this.runtime.events.deliver('normal');
    if (!this.runtime.isUp) this.runtime.restart();
  }

  /** Ends the process of one of the containers that run, if any does. */
  exit(which: number, exitCode: number, reason?: string): void {
    const found = nth(
      this.containers().filter(({ state }) => state === 'running'),
      which,
    );
    if (found) this.runtime.exitContainer(found.id, exitCode, ...(reason === undefined ? [] : [reason]));
  }

  killSandbox(which: number): SimulatedSandbox | undefined {
    const found = nth(this.sandboxes(), which);
    if (found) this.runtime.killSandbox(found.id);
    return found;
  }

  removeSandbox(which: number): SimulatedSandbox | undefined {
    const found = nth(this.sandboxes(), which);
    if (found) this.runtime.removeSandbox(found.id);
    return found;
  }

  stopRuntime({ downMs, keepContainers }: { readonly downMs: number; readonly keepContainers: boolean }): void {
    this.runtime.down();
    this.clock.setTimeout(() => this.runtime.isUp || this.runtime.restart({ keepContainers }), downMs);
  }

  deliverEvents(delivery: EventDelivery, forMs: number): void {
    this.runtime.events.deliver(delivery);
    this.clock.setTimeout(() => this.runtime.events.deliver('normal'), forMs);
  }

  /** Puts a manifest into the directory of static pods, whole and at once, as `mv` does. */
  putManifest(file: string, text: string): void {
    this.writeManifest(`.${file}.new`, text);
    this.disk.rename(join(PLACES.manifests, `.${file}.new`), join(PLACES.manifests, file));
    this.#keepManifests();
  }

  /** Writes a manifest in place, as editors do that let others see half of it. */
  writeManifest(file: string, text: string): void {
    this.#write(join(PLACES.manifests, file), text);
    this.#keepManifests();
  }

  removeManifest(file: string): void {
    this.disk.unlink(join(PLACES.manifests, file));
    this.#keepManifests();
  }

  #write(path: string, text: string): void {
    this.disk.write(this.disk.openFile(path, {}), Buffer.from(text), path);
  }

  #syncAll(inode: Inode): void {
    this.disk.sync(inode);
    if (inode.kind === 'directory') for (const child of inode.entries.values()) this.#syncAll(child);
  }

  /** What users write is durable: only the agent's own is at stake when the power goes. */
  #keepManifests(): void {
    this.#syncAll(this.disk.directoryAt(PLACES.manifests, 'fsync'));
  }

  /** The host loses its power and comes back: nothing runs any more, and of the disk there is what was synced. */
  cutPower(random: Random): void {
    this.disk.cutPower(random.fraction);
    this.cgroups = new CgroupTree('v2', cgroupProcesses(this.runtime));
    this.runtime.restart({ keepContainers: false });
  }
}

const nth = <T>(all: readonly T[], which: number): T | undefined => all[which % Math.max(1, all.length)];
